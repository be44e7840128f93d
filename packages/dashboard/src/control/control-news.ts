import type { ControlAnswer, JournalRow } from '../protocol/control.js';
import type { ControlSource } from './control-source.js';

/** How often it is looked whether something has happened. */
const LOOK_MS = 100;
/** Times and counts of the state change by themselves. */
const STATE_MS = 1000;
/** Rows of the journal that are told at once; there may be very many in a large change. */
const MOST_ROWS = 200;

export interface News {
  readonly control: ControlAnswer;
  readonly rows: readonly JournalRow[];
  readonly missed: number;
}

/** Tells what has happened at a controller. */
export class ControlNews {
  readonly #source: ControlSource;
  readonly #tell: (news: News) => void;
  readonly #looking: NodeJS.Timeout;
  #revision: number;
  #row: number;
  #toldMs = 0;

  constructor(source: ControlSource, tell: (news: News) => void) {
    this.#source = source;
    this.#tell = tell;
    this.#revision = source.revision;
    this.#row = source.journal().at(-1)?.id ?? 0;
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
    this.#looking.unref();
  }

  end(): void {
    clearInterval(this.#looking);
  }

  #look(): void {
    const nowMs = performance.now();
    const { revision } = this.#source;
    if (revision === this.#revision && nowMs - this.#toldMs < STATE_MS) return;
    this.#revision = revision;
    this.#toldMs = nowMs;
    const journal = this.#source.journal();
    const last = journal.at(-1)?.id ?? 0;
    const rows = last === this.#row ? [] : journal.slice(-MOST_ROWS).filter(({ id }) => id > this.#row);
    const missed = last - this.#row - rows.length;
    this.#row = last;
    this.#tell({ control: this.#source.state(), rows, missed });
  }
}
