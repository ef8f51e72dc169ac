/** A small session that the page reads and plays before the first file comes: the engine has optimized the code by then. */

const TURNS = 60;
/** What a result is made of: all kinds of identifiers, and escapes. */
const LINE = `export const berthOf = (ship) => harbour_list[ship.id] ?? "none"; // src/quay/berths.ts:42, ERR_4711\n`;

const text = (value: string) => [{ type: "text", text: value }];

/** A session file: in each turn a question, a call with its result, and an answer. */
export function practiceSession(): Uint8Array {
  const lines = Array.from({ length: TURNS }, (_, turn) => {
    const id = `toolu_${turn}`;
    const name = `src/quay/berths_${turn}.ts`;
    const usage = { input_tokens: 900 * turn + 500, output_tokens: 60, cost: 0.013875000000000002 };
    return [
      { role: "user", content: text(`What does berthOf in ${name} do for ship #${turn}?`) },
      {
        role: "assistant",
        content: [{ type: "tool_use", id, name: "read", input: { path: name } }],
        usage,
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: id, content: text(`${name}\n${LINE.repeat(30)}`) },
        ],
      },
      {
        role: "assistant",
        content: text(`berthOf looks for the ship in harbour_list: ${name}.`),
        usage,
      },
    ];
  });
  return new TextEncoder().encode(
    lines
      .flat()
      .map((line) => JSON.stringify(line))
      .join("\n"),
  );
}
