/** User messages of the recorded sessions, each with the pause before it (seconds). */
const ask = (text, after = 40) => ({ text, after });

export const SESSIONS = [
  {
    file: "harbour-audit.pi.jsonl",
    form: "pi",
    asks: [
      ask(
        "Have a look round this project and tell me what it is, how big, and what looks unfinished.",
      ),
      ask("Good. Now run the tests and mend what fails, one fault at a time.", 95),
      ask(
        "Thanks. What do the rules say about pilots, word for word? I want to check your last change against it.",
        180,
      ),
      ask("Which exports are used nowhere? Search for each before you say so.", 60),
      ask("Write docs/modules.md: a section for every module with its exports and imports.", 240),
      ask("Play 10 days with a few seeds. Who waits, and why are vessels refused?", 2700),
      ask("Rename `windows` to `openings`; the word is taken in the browser version.", 120),
      ask(
        "Several modules have none: write tests for those. Ask the code for the values, do not make them up.",
        75,
      ),
      ask("And rename `canCross` to `isOpen`, it is the same family of words.", 600),
      ask("Audit the whole tree once more, I want the state after all this.", 90),
      ask("Last question: what do the decisions say about money? I have to quote it.", 30),
    ],
  },
  {
    file: "harbour-plan.anthropic.json",
    form: "anthropic",
    asks: [
      ask("Plan the list in data/vessels.csv and tell me how the planner chooses."),
      ask("Then mend what the tests complain of.", 45),
      ask("Play 5 days and look at the refusals.", 400),
      ask("What do the rules say about hazard?", 30),
    ],
  },
  {
    file: "harbour-exports.openai.json",
    form: "openai",
    asks: [
      ask("Which exports are used nowhere?"),
      ask("Look round in the tree, please: sizes, long functions, notes to self.", 70),
      ask("Rename `height` to `waterLevel`.", 30),
    ],
  },
];

export const SYSTEM = `You are a careful programmer at work in one folder. You have tools to list, read, search, run, write and edit.

- Look before you speak: read a file before you say what it does, run the tests before you say that they pass.
- Change one thing at a time and run the tests after it. Leave what you were not asked about as it is.
- The rules of the port are in docs/rules.md and the decisions in docs/decisions.md. Where the code and a rule differ, the rule is right.
- Paths are relative to the folder. You cannot leave it.
- Answer in a few plain sentences or a short list. Quote rules word for word, with their number.`;
