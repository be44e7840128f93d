/** The marks that a sample shows: candidates for the settings of a decoder. */
import type { Profile } from '@int/codec';
import { MarkScout } from '@int/codec/internals';
import type { SampleGroup } from './sample.js';

/** How often a value would lead to sound INT, the most frequent first. */
export type Ranking<T> = readonly (readonly [value: T, frames: number])[];

export interface SampleMarks {
  readonly dscp: Ranking<number>;
  readonly ports: Ranking<number>;
  readonly gre: Ranking<number>;
  readonly markers: Ranking<bigint>;
  /** UDP destination ports of payloads that are reports by their bytes. */
  readonly reportPorts: Ranking<number>;
  /** UDP destination ports of which nearly all payloads are reports, some of them only if the port says so. */
  readonly otherReportPorts: Ranking<number>;
}

/** Most candidates of a kind that are tried. */
const MOST = 8;
/** Most values of a kind that are counted. */
const MOST_COUNTED = 4096;
/** A port is one of reports if it has so many of them, and so few other payloads. */
const FEWEST_REPORTS = 3;
const MOSTLY = 0.9;

class Counts<T> {
  readonly #counts = new Map<T, number>();

  add(value: T): void {
    const count = this.#counts.get(value);
    if (count !== undefined || this.#counts.size < MOST_COUNTED) this.#counts.set(value, (count ?? 0) + 1);
  }

  of(value: T): number {
    return this.#counts.get(value) ?? 0;
  }

  ranking(): Ranking<T> {
    return [...this.#counts].sort(([, a], [, b]) => b - a).slice(0, MOST);
  }
}

/** Looks at all packets of the sample, also at those inside reports, as a profile reads them. */
export function marksOf(groups: readonly SampleGroup[], profile: Profile): SampleMarks {
  const scout = new MarkScout(profile);
  const dscp = new Counts<number>();
  const ports = new Counts<number>();
  const gre = new Counts<number>();
  const markers = new Counts<bigint>();
  const reportPorts = new Counts<number>();
  const otherReportPorts = new Counts<number>();
  const udpPorts = new Counts<number>();
  for (const { linkType, frames } of groups) {
    for (let row = 0; row < frames.count; row++) {
      const from = frames.offsets[row]!;
      scout.look(frames.bytes.subarray(from, from + frames.lengths[row]!), linkType, (marks) => {
        if (marks.byDscp) dscp.add(marks.dscp);
        if (marks.byPort) ports.add(marks.udpPort);
        if (marks.byGre) gre.add(marks.greProtocol);
        if (marks.marker !== null) markers.add(marks.marker);
        if (marks.udpPort >= 0 && !marks.isInside) udpPorts.add(marks.udpPort);
        if (marks.isReport) reportPorts.add(marks.udpPort);
        if (marks.byReportPort) otherReportPorts.add(marks.udpPort);
      });
    }
  }
  return {
    dscp: dscp.ranking(),
    ports: ports.ranking(),
    gre: gre.ranking(),
    markers: markers.ranking(),
    reportPorts: reportPorts.ranking(),
    otherReportPorts: otherReportPorts.ranking().filter(([port, frames]) => {
      const reports = frames + reportPorts.of(port);
      return reports >= FEWEST_REPORTS && reports >= MOSTLY * udpPorts.of(port);
    }),
  };
}
