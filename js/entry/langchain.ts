/** `plimsoll/langchain`: LangChain's agents, by a middleware of `createAgent`. */
import "../inline/core.js";

export { type LangChainMiddleware, type LangChainSession, middleware } from "../hosts/langchain.js";
