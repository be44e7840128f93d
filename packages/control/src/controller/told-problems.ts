/** Why something that is wanted cannot be had. */
export interface Problem {
  readonly intents: readonly string[];
  readonly message: string;
  /** Two intents contradict each other: switches that come change nothing of it. */
  readonly isConflict: boolean;
}

/** Problems that are told at once; the others are counted. */
const MOST_SHOWN = 4;

/** Tells of problems when there are others than before, once. */
export class ToldProblems {
  #told = '';

  /** @param isAll whether all switches are there: without them much has no place for a moment @returns what to tell; `null`: nothing */
  look(problems: readonly Problem[], isAll: boolean): string | null {
    const open = isAll ? problems : problems.filter(({ isConflict }) => isConflict);
    const texts = [...new Set(open.map(({ message }) => message))];
    const text = texts.join('\n');
    if (text === this.#told || (!isAll && texts.length === 0)) return null;
    this.#told = text;
    if (texts.length === 0) return 'all that is wanted has its place again';
    const more = texts.length > MOST_SHOWN ? `; and ${texts.length - MOST_SHOWN} more` : '';
    return `cannot be had: ${texts.slice(0, MOST_SHOWN).join('; ')}${more}`;
  }
}
