import type { WindowCorrection } from '../model/window.js';
import { nanosecondText } from '../time.js';

/** Windows that wait to be corrected at most: of more, all are corrected at once. */
const MOST = 4096;

/** What a window is of. */
type Subject = WindowCorrection extends infer One
  ? One extends WindowCorrection
    ? Pick<One, Extract<keyof One, 'of' | 'flow' | 'side' | 'nodeId' | 'link'>>
    : never
  : never;

interface LateCount {
  readonly subject: Subject;
  /** Of its window, but for the start. */
  readonly name: string;
  readonly window: number;
  late: number;
}

/** What has come for windows that can be corrected no more, until it is told. */
export class LateCounts {
  readonly #windowUs: number;
  readonly #give: (correction: WindowCorrection) => void;
  readonly #counts = new Map<string, LateCount>();
  /** How many there have been, since the first side that had this one's state. */
  total = 0;

  constructor(windowUs: number, give: (correction: WindowCorrection) => void) {
    this.#windowUs = windowUs;
    this.#give = give;
  }

  /** @param name beginning of the window's id: its start follows */
  add(name: string, window: number, late: number, subjectOf: () => Subject | null): void {
    this.total += late;
    const key = `${name}-${window}`;
    const count = this.#counts.get(key);
    if (count !== undefined) {
      count.late += late;
      return;
    }
    const subject = subjectOf();
    if (subject === null) return;
    if (this.#counts.size === MOST) this.tell();
    this.#counts.set(key, { subject, name, window, late });
  }

  /** Gives out a correction for each window. */
  tell(): void {
    for (const { subject, name, window, late } of this.#counts.values()) {
      const startUs = window * this.#windowUs;
      this.#give({
        type: 'windowCorrection',
        id: `${name}-${startUs}`,
        number: this.total,
        startNs: nanosecondText(startUs),
        endNs: nanosecondText(startUs + this.#windowUs),
        complete: false,
        late,
        ...subject,
      });
    }
    this.#counts.clear();
  }
}
