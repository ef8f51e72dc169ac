/** The system prompt. */

/** UTF-16 code units of a section, and of the whole prompt. */
export interface PromptBudget {
  maxPerTierChars: number;
  maxTotalChars: number;
}

/** A part of the system prompt. */
export interface Section {
  /** Its name: `base`, `memory:soul`, `rules:testing`. What lifts its priority goes by it. */
  key: string;
  /** Its text, with the line ends that part it from the next. */
  content: string;
  /** 0..100: what has less goes first. */
  priority: number;
  /** Cut only after everything else. */
  protected?: boolean;
  source?: string;
  scope?: "always-on" | "task-local";
  reason?: string;
  evidence?: string[];
  /** The same from request to request: what a prompt cache may count on. */
  stable?: boolean;
}

/** What became of a section. */
export interface SectionReport {
  key: string;
  sourceType: string;
  scopeType: string;
  inclusionReason: string;
  /** With what the request lifted it by. */
  priority: number;
  basePriority: number;
  protected: boolean;
  originalChars: number;
  finalChars: number;
  /** Of what is included, by the default profile. */
  estimatedTokens: number;
  /** Where it stands in the prompt; null: it does not. */
  offset: number | null;
  included: boolean;
  truncated: boolean;
  evidence: string[];
  /** The total budget from which on the total cuts nothing of it. */
  wholeFromTotalChars: number;
}

/** A prompt, and how it came to be. May be passed as `system`. */
export interface PromptPlan {
  prompt: string;
  totalChars: number;
  /** Of its start: so much stays the same whatever becomes of the sections that are not stable. */
  stablePrefixChars: number;
  /** Of that start: the same text, the same key. */
  stablePrefixKey: string;
  truncatedSectionKeys: string[];
  sections: SectionReport[];
  budget: PromptBudget;
  focus: RequestFocus | null;
}

/** What a request is about. */
export interface RequestFocus {
  querySummary: string;
  activeFilePaths: string[];
  activeSymbols: string[];
  planSignals: string[];
}

/** Whose memory a file is, from the agent's own core to the day's notes. */
export type MemoryTier =
  | "soul"
  | "policy"
  | "workspace"
  | "user"
  | "local"
  | "auto"
  | "markdown"
  | "journal";

export type ToolDefinition = { name: string; description?: string; parameters?: object };

/** The words around memories: of a language, or the host's own. */
export type Locale =
  | "en"
  | "vi"
  | "zh"
  | { memoryHeader: string; truncated: string; compressed: string; question: string };
