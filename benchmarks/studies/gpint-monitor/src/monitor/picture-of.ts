/** The picture of a run. */
import { basename } from 'node:path';
import { deadLinks, everCollected, type Findings, linkFindings, names, neverCollected } from './findings.js';
import { layoutOf } from './layout.js';
import { seconds } from './live.js';
import type { MonitorProgramOptions } from './options.js';
import { drawPicture } from './picture.js';

const counted = (count: number, noun: string, ending = 's'): string => `${count} ${noun}${count === 1 ? '' : ending}`;

/** Draws what was found, as SVG text. */
export function pictureOf(findings: Findings, options: MonitorProgramOptions): string {
  const { graph, plan, sessions, verdicts, failures, attached } = findings;
  const { topology, seed, loss } = options;
  const total = graph.nodeCount;
  const links = linkFindings(findings);
  const never = neverCollected(findings);
  const probes = sessions.reduce((sum, { report }) => sum + report.sentInitial, 0);
  const resent = sessions.reduce((sum, { report }) => sum + report.sentRecovery, 0);
  const times = sessions.map(({ report }) => seconds(report.elapsedNs)).join(', ');
  const failed = [counted(failures.links.size, 'link'), counted(failures.switches.size, 'switch', 'es')];
  const notes = [
    `${counted(sessions.length, 'session')} of ${plan.paths.count} paths: ${probes} probes and ${resent} for recovery; collected in ${times}`,
    `links lose ${Number((loss * 100).toFixed(2))} % of all packets; failed: ${failed.join(', ')}`,
  ];
  return drawPicture({
    title: `${basename(topology)}: ${total} switches, ${graph.linkCount} links`,
    description: [
      `A network of ${total} switches and the ${plan.paths.count} paths of its telemetry probes.`,
      `The monitor has collected ${total - never.length} switches${never.length > 0 ? `, all but ${never.slice(0, 12).join(', ')}` : ''}.`,
      links.found.length > 0 ? `It names these dead links: ${names(graph, links.found)}.` : 'It names no dead link.',
      links.lossy.length > 0 ? `It takes these for lossy: ${names(graph, links.lossy)}.` : '',
    ]
      .filter((text) => text !== '')
      .join(' '),
    notes,
    graph,
    layout: layoutOf(graph, topology, seed),
    paths: plan.paths,
    collected: everCollected(findings),
    failedLinks: deadLinks(graph, failures),
    failedSwitches: failures.switches,
    verdicts,
    attached,
  });
}
