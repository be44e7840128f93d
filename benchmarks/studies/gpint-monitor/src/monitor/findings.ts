/** What the monitor found, next to the truth. */
import type { Graph, Plan, SessionReport } from '@int/gpint';
import type { LinkVerdict } from './evidence.js';
import { type Failures, linkNames } from './failures.js';
import { linksOf } from './network.js';

export interface SessionFinding {
  readonly report: SessionReport;
  /** Paths that were changed before this session; -1: none were planned anew. */
  readonly replanned: number;
}

export interface Findings {
  readonly graph: Graph;
  readonly plan: Plan;
  readonly sessions: readonly SessionFinding[];
  readonly verdicts: ReadonlyMap<number, LinkVerdict>;
  readonly failures: Failures;
  readonly attached: readonly number[];
}

/** Links that carry nothing: those that failed, and those of switches that failed. */
export function deadLinks(graph: Graph, { links, switches }: Failures): Set<number> {
  const dead = new Set(links);
  for (const [link, [a, b]] of linksOf(graph).entries()) {
    if (switches.has(a) || switches.has(b)) dead.add(link);
  }
  return dead;
}

/** Links by number. */
export interface LinkFindings {
  /** Dead, and the monitor says so. */
  readonly found: readonly number[];
  /** Dead, and the monitor does not say so: as a rule, no path goes over them. */
  readonly unseen: readonly number[];
  /** The monitor says that they are dead, and they are not. */
  readonly wrong: readonly number[];
  readonly lossy: readonly number[];
  readonly congested: readonly number[];
}

export function linkFindings({ graph, verdicts, failures }: Findings): LinkFindings {
  const dead = deadLinks(graph, failures);
  const by = (wanted: LinkVerdict): number[] =>
    [...verdicts].filter(([, verdict]) => verdict === wanted).map(([link]) => link);
  const named = by('unavailable');
  return {
    found: named.filter((link) => dead.has(link)),
    unseen: [...dead].filter((link) => verdicts.get(link) !== 'unavailable').sort((a, b) => a - b),
    wrong: named.filter((link) => !dead.has(link)),
    lossy: by('lossy'),
    congested: by('congested'),
  };
}

/** Switches that some session has collected. */
export function everCollected({ graph, sessions }: Findings): Uint8Array {
  const collected = new Uint8Array(graph.nodeCount);
  for (const { report } of sessions) for (const { node } of report.telemetry) collected[node] = 1;
  return collected;
}

/** Switches that no session has collected, by name. */
export function neverCollected(findings: Findings): string[] {
  const collected = everCollected(findings);
  return findings.graph.names.filter((_, node) => collected[node] === 0);
}

/**
 * What must not be, whatever is lost: a session that does not account for each switch, or, with recovery and links of its
 * own to every switch, one that misses a switch which works.
 */
export function violations(findings: Findings, recover: boolean): string[] {
  const { graph, sessions, failures, attached } = findings;
  return sessions.flatMap(({ report }) => {
    const { session, collected, uncollected } = report;
    const problems: string[] = [];
    if (collected + uncollected.length !== graph.nodeCount) {
      problems.push(`session ${session}: ${collected} collected + ${uncollected.length} missing`);
    }
    if (attached.length === 0 && recover) {
      for (const { node, name, reason } of uncollected) {
        // A plan that was made around failures may lack switches that these cut off.
        if (!failures.switches.has(node) && reason !== 'unplanned' && reason !== 'session-end') {
          problems.push(`session ${session}: ${name} works and was not collected`);
        }
      }
    }
    return problems;
  });
}

export function names(graph: Graph, links: readonly number[]): string {
  const shown = linkNames(graph, links.slice(0, 12)).join(', ');
  return links.length > 12 ? `${shown} and ${links.length - 12} more` : shown;
}
