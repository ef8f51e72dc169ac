/** Provider rules and window of the model in use, from the host's configuration. */
import type { Provider } from "../../types.js";
import { providerOf } from "../providers.js";
import type { HostConfig, HostMessage, RuntimeSettings } from "./host.js";

/** The model of a call. */
export interface Model {
  /** Its provider and name. */
  name: string;
  /** Whose rules hold; undefined if that cannot be told. */
  provider: Provider | undefined;
  /** Its window in tokens, if the configuration has it. */
  window: number | undefined;
  /** The most tokens it answers with, if the configuration has them. */
  output: number | undefined;
}

/** The model of a call. An answer of the history names the wire format of a provider that the configuration does not describe. */
export function modelOf(
  config: HostConfig | undefined,
  settings: RuntimeSettings | undefined,
  named: string | undefined,
  messages: readonly HostMessage[],
): Model {
  const { provider = null, resolved = null, requested = null } = settings?.model ?? {};
  const full = resolved ?? named ?? requested ?? "";
  const id = provider && full.startsWith(`${provider}/`) ? full.slice(provider.length + 1) : full;
  const described = provider ? config?.models?.providers?.[provider] : undefined;
  const model = described?.models?.find((one) => one.id === id);
  const api = model?.api ?? described?.api ?? apiOf(messages, provider);
  return {
    name: `${provider ?? ""}/${id}`,
    provider: providerOf(`${provider ?? ""} ${api ?? ""} ${api ? "" : id}`),
    window: model?.contextWindow,
    output: model?.maxTokens,
  };
}

/** Wire format of the newest answer of this provider. */
function apiOf(messages: readonly HostMessage[], provider: string | null): string | undefined {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const answer = messages[at] as { provider?: unknown; api?: unknown } | undefined;
    if (answer?.provider === provider && typeof answer?.api === "string") return answer.api;
  }
  return undefined;
}
