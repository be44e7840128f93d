import type { RecordCounts } from '@int/collector';

/** Why records are dropped. */
export const DROP_REASONS = ['overflow', 'rejected', 'closed', 'unconfirmed'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

export class KindCounts {
  offered = 0;
  delivered = 0;
  readonly dropped: Record<DropReason, number> = { overflow: 0, rejected: 0, closed: 0, unconfirmed: 0 };

  drop(reason: DropReason, records = 1): void {
    this.dropped[reason] += records;
  }

  snapshot(): RecordCounts {
    const { offered, delivered } = this;
    const dropped = { ...this.dropped };
    const pending = offered - delivered - DROP_REASONS.reduce((sum, reason) => sum + dropped[reason], 0);
    return { offered, delivered, pending, dropped };
  }
}
