/** Text of a session as JSON and as a pattern. */

/** A JSON document without control and invisible characters, in JSON's own notation: the text parses to the same value. */
export function harmlessJson(json: string): string {
  const unit = (of: string): string => `\\u${of.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => {
    return char.split("").map(unit).join("");
  });
}

/** A text as the source of a pattern that it alone matches. */
export function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
