import type { WindowCorrection } from '../model/window.js';
import { nanosecondText } from '../time.js';

/** Most windows with a pending correction. Beyond it, all corrections are emitted at once. */
const MOST = 4096;

/** The subject of a window. */
type Subject = WindowCorrection extends infer One
  ? One extends WindowCorrection
    ? Pick<One, Extract<keyof One, 'of' | 'flow' | 'side' | 'nodeId' | 'link'>>
    : never
  : never;

interface LateCount {
  readonly subject: Subject;
  /** Id of the window, without its start. */
  readonly name: string;
  readonly window: number;
  late: number;
}

/** Counts of what came too late for windows that can no longer be corrected, until the corrections are emitted. */
export class LateCounts {
  readonly #windowUs: number;
  readonly #give: (correction: WindowCorrection) => void;
  readonly #counts = new Map<string, LateCount>();
  /** The sum of all counts so far, including those of earlier sides with this state. */
  total = 0;

  constructor(windowUs: number, give: (correction: WindowCorrection) => void) {
    this.#windowUs = windowUs;
    this.#give = give;
  }

  /** @param name prefix of the window's id, before its start */
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

  /** Emits a correction for each window. */
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
