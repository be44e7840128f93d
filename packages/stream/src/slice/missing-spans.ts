import type { ByteFields } from '../partial/fields.js';

/** Most spans. Beyond it, the closest two are joined. */
const MOST = 64;

interface Span {
  from: number;
  to: number;
}

/**
 * Spans of time, or of slices, in which something may be missing. Their number is limited: spans are joined, not
 * dropped.
 */
export class MissingSpans {
  /** In ascending order. They do not touch. */
  #spans: Span[] = [];

  /** @param to not included */
  add(from: number, to: number): void {
    if (!(from < to)) return;
    const apart = this.#spans.filter((span) => span.to < from || span.from > to);
    const one = { from, to };
    for (const span of this.#spans) {
      if (span.to < from || span.from > to) continue;
      one.from = Math.min(one.from, span.from);
      one.to = Math.max(one.to, span.to);
    }
    this.#spans = [...apart, one].sort((a, b) => a.from - b.from);
    if (this.#spans.length > MOST) this.#join();
  }

  #join(): void {
    let closest = 1;
    const gap = (at: number): number => this.#spans[at]!.from - this.#spans[at - 1]!.to;
    for (let at = 2; at < this.#spans.length; at++) if (gap(at) < gap(closest)) closest = at;
    this.#spans[closest - 1]!.to = this.#spans[closest]!.to;
    this.#spans.splice(closest, 1);
  }

  /** Whether something between `from` and `to` may be missing. */
  has(from: number, to: number): boolean {
    for (const span of this.#spans) if (span.from < to && from < span.to) return true;
    return false;
  }

  /** Whether everything between `from` and `to` may be missing. */
  covers(from: number, to: number): boolean {
    return this.#spans.some((span) => span.from <= from && to <= span.to);
  }

  /** Drops spans that end at `before` or earlier. */
  forget(before: number): void {
    if (this.#spans.length > 0 && this.#spans[0]!.to <= before) {
      this.#spans = this.#spans.filter(({ to }) => to > before);
    }
  }

  pass(fields: ByteFields): void {
    const spans = this.#spans;
    const count = fields.between(0, MOST, 'spans', spans.length);
    this.#spans = [];
    for (let at = 0; at < count; at++) this.add(fields.number(spans[at]?.from), fields.number(spans[at]?.to));
  }
}
