import type { ReportVersion, Status, TelemetryRecord } from '@int/codec';
import type { Colours } from './colour.js';
import { counted, grouped } from './numbers.js';

/** Counts decoded records by status, report version and INT mode. All keys are always present. */
export class Tally {
  frames = 0;
  records = 0;
  readonly status: Record<Status, number> = { ok: 0, 'not-int': 0, truncated: 0, malformed: 0, unsupported: 0 };
  readonly report: Record<ReportVersion | 'none', number> = { '0.5': 0, '1.0': 0, '2.0': 0, none: 0 };
  readonly int: Record<'md' | 'mx' | 'xd' | 'gpint' | 'none', number> = { md: 0, mx: 0, xd: 0, gpint: 0, none: 0 };

  add(record: TelemetryRecord): void {
    this.records++;
    this.status[record.status]++;
    this.report[record.report?.version ?? 'none']++;
    this.int[record.int?.mode ?? 'none']++;
  }

  /** Records with errors. */
  get wrong(): number {
    return this.status.truncated + this.status.malformed + this.status.unsupported;
  }

  toJson() {
    const { frames, records, status, report, int } = this;
    return { frames, records, status, report, int };
  }

  /** A table with one line per count, without zeros. */
  toText(colour: Colours): string {
    const lines = [`${counted(this.frames, 'frame')}, ${counted(this.records, 'record')}`];
    const section = (title: string, counts: Readonly<Record<string, number>>): void => {
      const present = Object.entries(counts).filter(([, count]) => count > 0);
      if (present.length === 0) return;
      lines.push(colour.bold(title));
      for (const [name, count] of present) lines.push(`  ${name.padEnd(12)}${grouped(count).padStart(14)}`);
    };
    section('status', this.status);
    section('report version', this.report);
    section('INT mode', this.int);
    return lines.join('\n');
  }
}
