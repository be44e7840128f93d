/** Figures of the studies, for FIGURES.md. Each study has its own README for the rest. */
import { paragraph } from '@int/harness';
import { findingARule } from './detect.js';
import { gainOfAShard } from './flowcache.js';
import { planningWords } from './gpint.js';
import { percent, pick, studied, whole } from './reading.js';

interface Prefilter {
  readonly windows: readonly {
    readonly workload: string;
    readonly detector: string;
    readonly fromUs: number | null;
    readonly toUs: number | null;
  }[];
  readonly points: readonly {
    readonly workload: string;
    readonly detector: string;
    readonly thresholdUs: number;
    readonly hot: number;
    readonly gain: number | null;
  }[];
}

function filtering(): string {
  const { windows, points } = studied<Prefilter>('event-prefilter', 'prefilter.json');
  const window = (workload: string): string => {
    const { fromUs, toUs } = pick(
      windows,
      workload,
      (each) => each.workload === workload && each.detector === 'perFlow',
    );
    return fromUs === null || toUs === null ? 'no threshold' : `${fromUs} to ${toUs} us`;
  };
  const web = pick(
    points,
    'web at 0',
    (each) => each.workload === 'web' && each.detector === 'perFlow' && each.thresholdUs === 0 && each.hot === 1.5,
  );
  return paragraph(
    findingARule(),
    '[The gain of filtering](studies/event-prefilter): one report in 10 to 15 is left if a switch reports only changes above',
    `${window('cache')} of queue (cache traffic) or ${window('hadoop')} (hadoop). Of web traffic, one in ${web.gain!.toFixed(0)} is left even if every change`,
    'is reported.',
  );
}

interface Accuracy {
  readonly results: readonly {
    readonly plan: { readonly rate: number; readonly events: number };
    readonly lostInKernel: number;
    readonly lostInProgram: number;
    readonly closes: boolean;
  }[];
}

function monitor(): string {
  const { results } = studied<Accuracy>('smartnic-monitor', 'accuracy.json');
  const lossless = results.filter(
    ({ plan, lostInKernel, lostInProgram }) => plan.rate > 0 && lostInKernel + lostInProgram === 0,
  );
  const most = lossless.at(-1)!.plan;
  return paragraph(
    gainOfAShard(),
    `[Accuracy of a monitor](studies/smartnic-monitor): up to ${whole(most.rate)} reports and ${whole(most.events)} events a second over loopback`,
    "UDP, every histogram equalled the sender's. Above that rate, the missing values were exactly those counted as lost.",
  );
}

interface Tracing {
  readonly keys: number;
  readonly paper: {
    readonly byAge: readonly { readonly bytesPerFlow: number; readonly copies: number; readonly success: number }[];
    readonly wrong: readonly { readonly checksumBits: number; readonly keys: number; readonly answers: number }[];
  };
}

function tracing(): string {
  const { keys, paper } = studied<Tracing>('dart-path-tracing', '100-million/study.json');
  const { success } = pick(paper.byAge, '300 bytes', (each) => each.bytesPerFlow === 300 && each.copies === 4);
  const wrong = paper.wrong.filter(({ checksumBits }) => checksumBits === 32);
  const answers = wrong.reduce((sum, each) => sum + each.answers, 0);
  const queries = wrong.reduce((sum, each) => sum + each.keys, 0);
  return paragraph(
    `[The DART study](studies/dart-path-tracing) found ${percent(success, 2)} of ${keys / 1e6} million flows at 300 bytes a flow and 4 copies, as theory`,
    `predicts, and ${answers === 0 ? 'no' : answers} wrong answer in ${queries / 1e6} million queries.`,
  );
}

interface Recovery {
  readonly results: readonly {
    readonly cell: Readonly<Record<string, unknown>>;
    readonly estimates: Readonly<Record<string, { readonly mean: number }>>;
  }[];
}

function planning(): string {
  const { results } = studied<Recovery>('gpint-monitor', 'study.json');
  const { estimates } = pick(
    results,
    '25 paths at 20 %',
    ({ cell }) => cell.method === 'paths-25' && cell.loss === 0.2 && cell.losesFeedback === false,
  );
  const failed = estimates.failedSessions!.mean;
  return `${planningWords()}\n${paragraph(
    '[The cost of recovery](studies/gpint-monitor): over links that lose 20 %, telemetry of 100 switches by 25 paths took',
    `${estimates.probes!.mean.toFixed(1)} probes (one probe per switch takes 100), and ${failed === 0 ? 'no session' : `${failed.toFixed(1)} % of the sessions`} failed.`,
  )}`;
}

export const studies = {
  'study-filtering': filtering,
  'study-monitor': monitor,
  'study-tracing': tracing,
  planning,
};
