/** Plan, probe, collect, recover; then say what was found. */
import { writeFileSync } from 'node:fs';
import { type Graph, gpint, type Plan, replan } from '@int/gpint';
import { LinkEvidence } from './evidence.js';
import { chooseFailures } from './failures.js';
import { type Findings, type SessionFinding, violations } from './findings.js';
import { LiveView } from './live.js';
import { linksOf } from './network.js';
import type { MonitorProgramOptions } from './options.js';
import { pictureOf } from './picture-of.js';
import { planJson, sessionJson, sessionLines, totalJson, totalLines } from './report.js';
import { topologyOf } from './topology.js';
import { udpWorld } from './udp-world.js';
import { virtualWorld, type World, type WorldSetup } from './worlds.js';

function planText(graph: Graph, plan: Plan, { topology }: MonitorProgramOptions): string {
  const { paths, longest, shortest, overlap } = plan;
  return `${topology}: ${graph.nodeCount} switches, ${graph.linkCount} links; ${paths.count} paths of ${shortest} to ${longest} visits, overlap ${overlap}`;
}

/**
 * Runs what the options say.
 *
 * @param out gets what is printed, line by line
 * @param terminal where the session that runs is drawn; `null`: nowhere
 * @returns the exit code: 1 if a guarantee was broken
 * @throws GpintError, and errors of the file system and of sockets
 */
export async function monitor(
  options: MonitorProgramOptions,
  out: (line: string) => void,
  terminal: NodeJS.WriteStream | null,
  signal: AbortSignal,
): Promise<number> {
  const { seed, json, sessions: rounds, recover } = options;
  const graph = topologyOf(options.topology, seed);
  let plan = gpint(graph, { paths: options.paths ?? Math.max(1, Math.floor((3 * graph.nodeCount) / 10)), seed });
  const attached = options.inBand.map((name) => graph.nodeOf(name));
  const failures = chooseFailures(graph, plan.paths, options.fail, options.failRandom, seed);
  const evidence = new LinkEvidence(graph);
  const view = terminal === null ? null : new LiveView(graph, terminal, rounds);
  const setup: WorldSetup = {
    graph,
    plan,
    failures,
    attached,
    options,
    onEvent: (event) => {
      evidence.observe(event);
      view?.observe(event);
    },
    onFrame: (nowNs) => view?.draw(nowNs),
  };
  const world: World = options.udp
    ? await udpWorld(setup)
    : virtualWorld(setup, options.speed ?? (terminal === null ? 0 : 1));
  const sessions: SessionFinding[] = [];
  const findings = (): Findings => ({ graph, plan, sessions, verdicts: evidence.verdicts(), failures, attached });
  out(json ? JSON.stringify(planJson(findings(), options)) : planText(graph, plan, options));
  try {
    const ends = linksOf(graph);
    let replanned = -1;
    while (sessions.length < rounds && !signal.aborted) {
      const report = await world.collect(signal);
      view?.erase();
      const session = { report, replanned };
      sessions.push(session);
      if (json) out(JSON.stringify(sessionJson(graph, session)));
      else for (const line of sessionLines(graph, session)) out(line);
      if (!options.replan || sessions.length === rounds) continue;
      const { links, nodes } = evidence.suspects();
      const again = replan(graph, plan, { links: links.map((link) => ends[link]!), nodes }, { seed });
      replanned = again.changed.length > 0 ? again.changed.length : -1;
      plan = again.plan;
      world.monitor.setPlan(plan);
    }
  } finally {
    await world.close();
  }
  const problems = violations(findings(), recover);
  if (json) out(JSON.stringify(totalJson(findings(), problems)));
  else for (const line of [...totalLines(findings()), ...problems.map((problem) => `BROKEN: ${problem}`)]) out(line);
  if (options.svg !== null) writeFileSync(options.svg, pictureOf(findings(), options));
  if (options.pcap !== null) writeFileSync(options.pcap, world.pcap());
  return problems.length === 0 ? 0 : 1;
}
