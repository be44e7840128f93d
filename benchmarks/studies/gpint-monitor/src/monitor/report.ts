/** What is printed: a line for each session, and the findings at the end. */
import type { Graph, SessionReport } from '@int/gpint';
import { linkNames } from './failures.js';
import { type Findings, linkFindings, names, neverCollected, type SessionFinding } from './findings.js';
import { seconds } from './live.js';
import type { MonitorProgramOptions } from './options.js';

const count = (value: number, noun: string): string =>
  `${value.toLocaleString('en-US')} ${noun}${value === 1 ? '' : 's'}`;

/** Links of one session by status, as numbers. */
function linksBy(graph: Graph, { links }: SessionReport, wanted: 'unavailable' | 'congested'): number[] {
  const found = links.filter(({ status }) => status === wanted);
  return [...new Set(found.map(({ from, to }) => graph.linkBetween(from, to)))].sort((a, b) => a - b);
}

/** `NAME (why), ...`; at most a dozen. */
function uncollectedText({ uncollected }: SessionReport): string {
  const shown = uncollected.slice(0, 12).map(({ name, reason }) => `${name} (${reason})`);
  return uncollected.length > shown.length
    ? `${shown.join(', ')} and ${uncollected.length - 12} more`
    : shown.join(', ');
}

export function sessionLines(graph: Graph, { report, replanned }: SessionFinding): string[] {
  const { session, collected, sentInitial, sentRecovery, elapsedNs } = report;
  const { foreign, malformed, unknown } = report.counters;
  const strange = foreign + malformed + unknown;
  const missed = linksBy(graph, report, 'unavailable');
  const congested = linksBy(graph, report, 'congested');
  return [
    ...(replanned < 0 ? [] : [`planned around what seems dead: ${count(replanned, 'path')} changed`]),
    [
      `session ${session}: ${collected} of ${graph.nodeCount} switches in ${seconds(elapsedNs)}`,
      `${count(sentInitial, 'probe')} and ${sentRecovery} for recovery`,
      ...(missed.length > 0 ? [`missed on ${names(graph, missed)}`] : []),
      ...(congested.length > 0 ? [`congested ${names(graph, congested)}`] : []),
    ].join('; '),
    ...(strange > 0 ? [`  ${count(strange, 'answer')} that no probe had asked for`] : []),
    ...(report.uncollected.length > 0 ? [`  not collected: ${uncollectedText(report)}`] : []),
  ];
}

export function totalLines(findings: Findings): string[] {
  const { graph, sessions, failures } = findings;
  const links = linkFindings(findings);
  const never = neverCollected(findings);
  const row = (text: string, found: readonly number[]): string =>
    `  ${text.padEnd(34)}${String(found.length).padStart(4)}${found.length > 0 ? `  ${names(graph, found)}` : ''}`;
  const failed = [...failures.switches].map((node) => graph.names[node]!);
  const resent = sessions.reduce((sum, { report }) => sum + report.sentRecovery, 0);
  return [
    '',
    `links, as the monitor deduced from ${count(sessions.length, 'session')} and ${count(resent, 'recovery probe')}`,
    row('dead, and named', links.found),
    row('dead, and not named', links.unseen),
    row('named, and not dead', links.wrong),
    row('lossy (missed, and crossed)', links.lossy),
    row('congested (late)', links.congested),
    `switches`,
    `  ${'collected in some session'.padEnd(34)}${String(graph.nodeCount - never.length).padStart(4)}`,
    `  ${'never'.padEnd(34)}${String(never.length).padStart(4)}${never.length > 0 ? `  ${never.slice(0, 20).join(', ')}` : ''}`,
    ...(failed.length > 0
      ? [`  ${'failed, in truth'.padEnd(34)}${String(failed.length).padStart(4)}  ${failed.join(', ')}`]
      : []),
  ];
}

export function planJson({ graph, plan, failures, attached }: Findings, options: MonitorProgramOptions): object {
  return {
    type: 'plan',
    topology: options.topology,
    switches: graph.nodeCount,
    links: graph.linkCount,
    paths: plan.paths.named(graph),
    longest: plan.longest,
    shortest: plan.shortest,
    overlap: plan.overlap,
    failedLinks: linkNames(graph, failures.links),
    failedSwitches: [...failures.switches].map((node) => graph.names[node]!),
    attached: attached.map((node) => graph.names[node]!),
  };
}

export function sessionJson(graph: Graph, { report, replanned }: SessionFinding): object {
  const { session, collected, uncollected, complete, elapsedNs, sentInitial, sentRecovery, failedProbes } = report;
  return {
    type: 'session',
    session,
    complete,
    collected,
    uncollected: uncollected.map(({ name, reason }) => ({ name, reason })),
    elapsedMs: elapsedNs / 1e6,
    probes: sentInitial,
    recoveryProbes: sentRecovery,
    failedProbes,
    unavailable: linkNames(graph, linksBy(graph, report, 'unavailable')),
    congested: linkNames(graph, linksBy(graph, report, 'congested')),
    ...(replanned >= 0 && { pathsChanged: replanned }),
    counters: report.counters,
  };
}

export function totalJson(findings: Findings, problems: readonly string[]): object {
  const { graph, sessions } = findings;
  const { found, unseen, wrong, lossy, congested } = linkFindings(findings);
  return {
    type: 'total',
    sessions: sessions.length,
    found: linkNames(graph, found),
    unseen: linkNames(graph, unseen),
    wrong: linkNames(graph, wrong),
    lossy: linkNames(graph, lossy),
    congested: linkNames(graph, congested),
    neverCollected: neverCollected(findings),
    problems,
  };
}
