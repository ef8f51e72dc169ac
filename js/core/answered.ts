/** Answers of the Wasm files. An error of the core comes as an `Error` with its JSON, which is thrown as text. */
export function answered<T>(answer: T): T {
  if (answer instanceof Error) throw answer.message;
  return answer;
}
