/** Packets with reports that did not come to the loop, for whatever reason. */
import { type CollectorTotals, ReportLossStage, type Stage } from '@int/collector';

/** Takes what was lost since it was asked last. */
export class ReportLosses {
  readonly #stage: ReportLossStage;
  #missing = 0;
  #dropped = 0;

  /** @param stages of the collector; if none of them counts gaps in sequence numbers, {@link stage} is to be one */
  constructor(stages: readonly Stage[]) {
    this.#stage = stages.find((stage) => stage instanceof ReportLossStage) ?? new ReportLossStage();
  }

  get stage(): Stage {
    return this.#stage;
  }

  take({ dropped }: Pick<CollectorTotals, 'dropped'>): number {
    const { lost, missing } = this.#stage.totals();
    const frames = Object.values(dropped).reduce((sum, count) => sum + (count ?? 0), 0);
    // What comes late was counted too early: it is taken off what comes next. What the collector itself has dropped leaves a gap too,
    // unless its reports have no numbers.
    const gaps = Math.max(0, lost + missing - this.#missing);
    const drops = Math.max(0, frames - this.#dropped);
    this.#missing = lost + missing;
    this.#dropped = frames;
    return Math.max(gaps, drops);
  }
}
