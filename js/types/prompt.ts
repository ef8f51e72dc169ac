/** The system prompt. */

/** Limits in UTF-16 code units. */
export interface PromptBudget {
  /** The most that one section may have. */
  maxPerTierChars: number;
  /** The most that the whole prompt may have. */
  maxTotalChars: number;
}

/** A part of the system prompt. */
export interface Section {
  /** Its name, such as `base`, `memory:soul` or `rules:testing`. The focus raises priorities by this name. */
  key: string;
  /** Its text, including the line breaks that separate it from the next section. */
  content: string;
  /** 0..100. Sections with lower priority are cut first. */
  priority: number;
  /** Cut only after all other sections. Default false. */
  protected?: boolean;
  /** Where the text comes from, for the report. */
  source?: string;
  /** Whether it is always included or belongs to this task, for the report. */
  scope?: "always-on" | "task-local";
  /** Why it is included, for the report. */
  reason?: string;
  /** What supports the reason, for the report. */
  evidence?: string[];
  /** True if the text is the same in every request. `order: "stable-first"` puts these sections first, for the prompt cache. */
  stable?: boolean;
}

/** A section as `assemblePrompt` takes it. */
export type SectionInput = Omit<Section, "priority"> & {
  /**
   * 0..100. Sections with lower priority are cut first. Default: AceClaw's for its keys (`memory:soul` 100 to `memory:journal`
   * 50, `base` 95, `task-focus` 89, `rules` 88, `tool-guidance` 82, `environment` 72, `skills` 58, `candidates` 54, `git` 40);
   * any other key needs one.
   */
  priority?: number;
};

/** What happened to a section. */
export interface SectionReport {
  /** Its name. */
  key: string;
  /** `Section.source`. */
  sourceType: string;
  /** `Section.scope`. */
  scopeType: string;
  /** Why it was included. */
  inclusionReason: string;
  /** Its priority, including what the focus added. */
  priority: number;
  /** `Section.priority`, or the default of its key. */
  basePriority: number;
  /** `Section.protected`. */
  protected: boolean;
  /** Characters before. */
  originalChars: number;
  /** Characters in the prompt. */
  finalChars: number;
  /** Tokens in the prompt, by the default estimator. */
  estimatedTokens: number;
  /** Position of its text in the prompt, in characters; `null` if it was left out. */
  offset: number | null;
  /** False if it was left out. */
  included: boolean;
  /** True if it was cut. */
  truncated: boolean;
  /** `Section.evidence`, and why the focus raised its priority. */
  evidence: string[];
  /**
   * The `maxTotalChars` from which on the total budget cuts nothing of it. A section without `protected` that is longer than
   * `maxPerTierChars` is cut to that even then; with `protect: "never"`, a protected section is whole with any total budget.
   */
  wholeFromTotalChars: number;
}

/** A part of an assembled prompt. */
export interface PromptBlock {
  /** Its text. */
  text: string;
  /** True if no section that may change is in it, so that a cache marker on it pays off. */
  stable: boolean;
}

/** A prompt and how it was made. Can be passed as `system`. */
export interface PromptPlan {
  /** The text to send. */
  prompt: string;
  /**
   * The same text as one or two blocks: the start that stays the same, for a provider's cache marker, and the rest. Empty
   * blocks are left out; `blocks.map((it) => it.text).join("")` is `prompt`.
   *
   * @example
   * // Anthropic
   * const system = plan.blocks.map(({ text, stable }) => ({
   *   type: "text", text, ...(stable && { cache_control: { type: "ephemeral" } }),
   * }));
   */
  blocks: PromptBlock[];
  /** Characters of `prompt`. */
  totalChars: number;
  /** Characters at its start that do not depend on sections that may change. */
  stablePrefixChars: number;
  /** Fingerprint of that start: the same text has the same key. */
  stablePrefixKey: string;
  /** Keys of sections that were cut. */
  truncatedSectionKeys: string[];
  /** Every section, in the order of the prompt. */
  sections: SectionReport[];
  /** The budget that was used. */
  budget: PromptBudget;
  /** The focus that was used, or `null`. */
  focus: RequestFocus | null;
}

/** What a request is about. */
export interface RequestFocus {
  /** The request, shortened. */
  querySummary: string;
  /** Files it names, at most 6. */
  activeFilePaths: string[];
  /**
   * The same files and further ones, at most 12, for `matchRules` and candidates. `requestFocus` always has them; default:
   * `activeFilePaths`.
   */
  inferredFilePaths?: string[];
  /** Functions, classes and other names in it. */
  activeSymbols: string[];
  /** What it asks for, of `continue current execution`, `planning context`, `code change requested`, `verification requested`. */
  planSignals: string[];
}

/** Kind of a memory file, from the agent's own core to the notes of a day. */
export type MemoryTier =
  | "soul"
  | "policy"
  | "workspace"
  | "user"
  | "local"
  | "auto"
  | "markdown"
  | "journal";

/** A tool in the simplest shape that `trimToolDescriptions` takes. */
export type ToolDefinition = {
  /** Its name. */
  name: string;
  /** Its description, for the model. */
  description?: string;
  /** JSON Schema of its arguments. */
  parameters?: object;
};

/** The words around memories: those of a language, or your own. */
export type Locale =
  | "en"
  | "vi"
  | "zh"
  | {
      /** Line above the memories. */
      memoryHeader: string;
      /** Line that says that memories were left out, or a section was cut. */
      truncated: string;
      /** Word at the end of a text that `compressText` has cut. */
      compressed: string;
      /** Words before the message. */
      question: string;
    };
