/** Incidents and hosts, as text for people and as JSON. */
import type { HostPhases, Incident, KnowledgeTotals } from '@int/knowledge';
import { operandTexts } from '@int/knowledge/internals';
import type { Topology } from '@int/network';
import type { KnownNetwork } from '../network/known-network.js';
import type { Colours } from '../output/colour.js';
import { counted, grouped } from '../output/numbers.js';
import { printable } from '../output/printable.js';

function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('T', ' ').replace('Z', '');
}

/** `queue:2/3` as `queue 3 of leaf-2` where the switch has a name. */
export function entityText(entity: string, topology: Topology): string {
  const [kind = '', rest = ''] = entity.split(/:(.*)/s);
  const [id = '', part] = rest.split('/');
  if (kind === 'switch') return `switch ${topology.switchName(Number(id)) ?? id}`;
  if (kind === 'queue' || kind === 'port') return `${kind} ${part} of switch ${topology.switchName(Number(id)) ?? id}`;
  if (kind === 'service') return `service ${part} of protocol ${id}`;
  return rest;
}

/** An incident when it opens: what, where, when, and why. */
export function incidentLines(incident: Incident, { topology, device }: KnownNetwork, colour: Colours): string[] {
  const { kind, entity, from, confidence, formula, phase, otherwise, suggest } = incident;
  const numbers = Object.entries(operandTexts(incident, device)).map(([name, text]) => `${name} ${text}`);
  const lines = [
    `${timeText(from)}  ${colour.bold(kind)} ${entityText(entity, topology)}, confidence ${confidence.toFixed(2)}${phase === null ? '' : `, phase ${phase}`}`,
    `  because ${formula}`,
    `  where   ${numbers.join(', ')}`,
    `  unless  it is ${otherwise.join(', or ')}`,
  ];
  if (suggest !== null) {
    const match = Object.entries(suggest.match).map(([name, value]) => `${name} ${value}`);
    lines.push(`  suggest ${suggest.intent} ${match.join(', ')} for ${suggest.ttlMs / 1000} s`);
  }
  return lines.map(printable);
}

/** An incident when it closes. */
export function closedLine({ kind, entity, from, to, along }: Incident, topology: Topology, colour: Colours): string {
  const also = along.length === 0 ? '' : `, with ${along.map((each) => entityText(each, topology)).join(', ')}`;
  const seconds = ((to ?? from) - from) / 1000;
  const text = `${timeText(to ?? from)}  ${kind} ${entityText(entity, topology)} is over after ${seconds.toFixed(1)} s${also}`;
  return colour.dim(printable(text));
}

/** The object of `--json`: the incident, with its times as text and the switch's name where there is one. */
export function incidentJson(incident: Incident, topology: Topology): object {
  const id = /^(?:switch|queue|port):(\d+)/.exec(incident.entity)?.[1];
  const nodeName = id === undefined ? null : topology.switchName(Number(id));
  return { ...incident, ...(nodeName !== null && { nodeName }) };
}

/** The last object of `--json`. */
export function summaryJson(
  totals: KnowledgeTotals,
  { frames, passedOver }: { readonly frames: number; readonly passedOver: number },
  badLines: number,
  hosts: readonly HostPhases[],
): object {
  return { type: 'summary', frames, badLines, passedOver, ...totals, hosts };
}

/**
 * The last lines for people.
 * @param passedOver connections of protocols that are not read
 * @param learnEdgesMs time until leaks and edges are judged
 */
export function summaryLines(
  totals: KnowledgeTotals,
  passedOver: number,
  learnEdgesMs: number,
  hosts: readonly HostPhases[],
  colour: Colours,
): string[] {
  const { packets, connections, reports, incidents, untracked, spanMs } = totals;
  const seen = [
    ...(packets > 0 ? [`${counted(packets, 'packet')}, ${grouped(reports)} of them by telemetry`] : []),
    ...(connections > 0 ? [counted(connections, 'connection')] : []),
  ];
  const lines = [colour.bold(`${counted(incidents, 'incident')} in ${seen.join(' and ') || 'nothing'}`)];
  const lost = Object.entries(untracked).filter(([, count]) => count > 0);
  if (lost.length > 0)
    lines.push(`not tracked: ${lost.map(([reason, count]) => `${reason} ${grouped(count)}`).join(', ')}`);
  if (passedOver > 0) lines.push(`passed over: ${counted(passedOver, 'connection')} of other protocols`);
  if (packets + connections > 0 && spanMs < learnEdgesMs) {
    const hours = (ms: number): string => `${(ms / 3_600_000).toFixed(1)} h`;
    lines.push(
      `not judged: exfiltration and unusual edges, in ${hours(spanMs)} of the ${hours(learnEdgesMs)} of --learn-edges`,
    );
  }
  for (const { host, phases, score, level } of hosts.slice(0, 10)) {
    const chain = phases.map(({ phase, evidence }) => `${phase} ${evidence.toFixed(2)}`).join(', then ');
    lines.push(printable(`host ${host}: score ${score.toFixed(2)} at level ${level}: ${chain}`));
  }
  return lines;
}
