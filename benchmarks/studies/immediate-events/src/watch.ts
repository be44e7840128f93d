// Runs one scenario and prints what is true beside what is found; see the README.
import { parseArgs } from 'node:util';
import { type DrainedLink, type Label, SCENARIO_KINDS, type ScenarioKind } from '@int/netsim';
import type { ImmediateEvent } from '@int/stream';
import { observe } from './observe.js';

const USAGE = `Usage: node dist/watch.js [--scenario ${SCENARIO_KINDS.join('|')}] [--seed S]`;

function isKind(text: string): text is ScenarioKind {
  return (SCENARIO_KINDS as readonly string[]).includes(text);
}

/** What happened to whom: everything that is neither a kind nor a time. */
function subjectOf(one: Label | DrainedLink | ImmediateEvent): string {
  return Object.entries(one)
    .filter(([name]) => !['type', 'kind', 'id', 'timeNs', 'sinceNs', 'fromNs', 'toNs', 'ended'].includes(name))
    .map(([name, value]) => `${name}=${textOf(value)}`)
    .join(' ');
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.join('-');
  if (typeof value !== 'object' || value === null) return String(value);
  const { source, sourcePort, destination, destinationPort } = value as Readonly<Record<string, unknown>>;
  return `${source}:${sourcePort}>${destination}:${destinationPort}`;
}

function main(args: readonly string[]): number {
  let values: { scenario: string; seed: string };
  try {
    const options = {
      scenario: { type: 'string', default: 'link-failure' },
      seed: { type: 'string', default: '1' },
    } as const;
    values = parseArgs({ args: [...args], options }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`);
    return 2;
  }
  if (!isKind(values.scenario)) {
    console.error(USAGE);
    return 2;
  }
  const { labels, drained, events, reports, startNs, endNs } = observe({
    kind: values.scenario,
    seed: values.seed,
    startNs: 1e15,
  });
  const lines = [
    ...labels.map((label) => ({ timeNs: label.fromNs, text: `is true  ${label.kind} ${subjectOf(label)}` })),
    ...drained.map((link) => ({ timeNs: link.fromNs, text: `is well  ${subjectOf(link)}, which flows have left` })),
    ...events.map((event) => ({
      timeNs: Number(event.timeNs),
      text: `${event.ended === true ? 'ended    ' : 'found    '}${event.kind} ${subjectOf(event)}`,
    })),
  ];
  for (const { timeNs, text } of lines.sort((a, b) => a.timeNs - b.timeNs)) {
    console.log(`${((timeNs - startNs) / 1e9).toFixed(3).padStart(7)} s  ${text}`);
  }
  console.log(`${((endNs - startNs) / 1e9).toFixed(3).padStart(7)} s  end: ${reports} reports`);
  return 0;
}

process.exitCode = main(process.argv.slice(2));
