/** What is played already, in a file to which a line is added for each scenario: a run that is interrupted goes on from there. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Values } from '../scenarios/scenario.js';
import type { ScenarioName } from './measures.js';

export interface Outcome {
  readonly scenario: ScenarioName;
  readonly seed: number;
  readonly values: Values;
}

export class Played {
  readonly #file: string | null;
  readonly #outcomes = new Map<string, Outcome>();

  /** @param files are read; to the last one lines are added @throws RangeError for a file that is none of this study */
  constructor(files: readonly string[]) {
    this.#file = files.at(-1) ?? null;
    for (const file of files) {
      if (!existsSync(file)) continue;
      for (const line of readFileSync(file, 'utf8').split('\n')) {
        const outcome = outcomeOf(line, file);
        if (outcome !== null) this.#outcomes.set(keyOf(outcome.scenario, outcome.seed), outcome);
      }
    }
  }

  get(scenario: ScenarioName, seed: number): Outcome | undefined {
    return this.#outcomes.get(keyOf(scenario, seed));
  }

  add(outcome: Outcome): void {
    this.#outcomes.set(keyOf(outcome.scenario, outcome.seed), outcome);
    if (this.#file !== null) appendFileSync(this.#file, `${JSON.stringify(outcome)}\n`);
  }
}

const keyOf = (scenario: ScenarioName, seed: number): string => `${scenario} ${seed}`;

/** The outcome of a line; `null`: an empty one, or one that was cut off when the run was interrupted. */
function outcomeOf(line: string, file: string): Outcome | null {
  if (!line.endsWith('}')) return null;
  try {
    const outcome = JSON.parse(line) as Outcome;
    if (typeof outcome.scenario === 'string' && typeof outcome.seed === 'number') return outcome;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new RangeError(`${file} is no file of --played: ${line.slice(0, 60)}`);
}
