/** The results as Markdown: what the command prints and what stands in the README. */
import { type Head, surroundingsLine, markdownTable as table } from '@int/harness';
import { pointsOf, short } from './figures.js';
import { DETECTORS, HOT, OTHER_HOT, type StudyDetector, THRESHOLDS_US, WINDOW, WORKLOAD_NAMES } from './plan.js';
import { collectorRate, type Results } from './results.js';

/** A gain: `3.9 x`. */
function times(gain: number | null): string {
  if (gain === null) return '-';
  return `${gain < 100 ? Number(gain.toPrecision(3)) : Math.round(Number(gain.toPrecision(3))).toLocaleString('en')} x`;
}

const optional = (value: number | null): string => (value === null ? '-' : short(value));
const millions = (value: number): string => (value / 1e6).toFixed(2);

function monitorTable({ rates: { monitor } }: Results): string {
  const hops = [...new Set(monitor.map((rate) => rate.hops))];
  const items = [...new Set(monitor.map((rate) => rate.items))];
  const rate = (hop: number, item: number): (typeof monitor)[number] =>
    monitor.find((each) => each.hops === hop && each.items === item)!;
  const rows = items.map((item) => [
    String(item),
    ...hops.map((hop) => millions(rate(hop, item).reportsPerSecond)),
    ...[hops[0]!, hops[hops.length - 1]!].map((hop) => {
      const { decode, total } = rate(hop, item);
      return `${decode.median.toFixed(0)} of ${total.median.toFixed(0)}`;
    }),
  ]);
  const most = hops[hops.length - 1]!;
  return table(
    ['items', ...hops.map((hop) => `${hop} hop${hop === 1 ? '' : 's'}`), 'decoding, 1 hop', `decoding, ${most} hops`],
    rows,
  );
}

/** What building a message costs by its length. */
function monitorWords({ rates: { monitor } }: Results): string {
  const perByte = monitor.map(({ decode, total, messageBytes }) => (total.median - decode.median) / messageBytes);
  const [low, high] = [Math.min(...perByte), Math.max(...perByte)].map((value) => value.toFixed(2));
  const [first, last] = [monitor[0]!, monitor[monitor.length - 1]!].map(({ messageBytes }) => messageBytes.toFixed(0));
  return `A message has ${first} bytes (1 hop, 1 item) to ${last} (4 hops, 8 items); building it takes ${low} to ${high} ns for each.`;
}

/** What bounds a filter in the collector. */
function boundWords(results: Results): string {
  const { decode } = results.rates;
  const last = THRESHOLDS_US[THRESHOLDS_US.length - 1]!;
  const lines = WORKLOAD_NAMES.map((workload) => {
    const alone = decode.find((each) => each.workload === workload)!.time.median;
    const whole = collectorRate(results.rates, workload, null, null)!.time.median;
    const filtered = DETECTORS.map((detector) => {
      const { median } = collectorRate(results.rates, workload, detector, last)!.time;
      return `${median.toFixed(1)} (${times(whole / median)})`;
    });
    return [workload, whole.toFixed(1), `${alone.toFixed(1)} (${times(whole / alone)})`, ...filtered];
  });
  const head = [
    '',
    'decode, all messages',
    'decode alone',
    ...DETECTORS.map((name) => `decode, ${name} at ${last} us`),
  ];
  return table(head, lines);
}

function capacityTable(results: Results, detector: StudyDetector): string {
  const none = WORKLOAD_NAMES.flatMap((workload) => {
    const rate = short(collectorRate(results.rates, workload, null, null)!.reportsPerSecond);
    return ['1 x', rate, rate];
  });
  const columns = WORKLOAD_NAMES.map((workload) => pointsOf(results, detector, workload));
  const rows = THRESHOLDS_US.map((threshold, k) => [
    String(threshold),
    ...columns.flatMap((points) => {
      const { gain, inSwitch, inCollector } = points[k]!;
      return [times(gain), optional(inSwitch), optional(inCollector)];
    }),
  ]);
  return table(
    ['threshold, us', ...WORKLOAD_NAMES.flatMap((workload) => [workload, '(a)', '(b)'])],
    [['no filter', ...none], ...rows],
  );
}

function windowTable({ windows }: Results): string {
  const range = (from: number | null, to: number | null): string =>
    from === null || to === null ? 'none' : from === to ? `${from}` : `${from} to ${to}`;
  const rows = WORKLOAD_NAMES.map((workload) => {
    const own = (['perFlow', 'movingAverage'] as const).map(
      (detector) => windows.find((each) => each.workload === workload && each.detector === detector)!,
    );
    return [
      workload,
      ...own.map(({ fromUs, toUs }) => range(fromUs, toUs)),
      ...own.map(({ gainAtZero }) => times(gainAtZero)),
    ];
  });
  return table(['', 'perFlow, perHop: us', 'movingAverage: us', 'perFlow, perHop at 0', 'movingAverage at 0'], rows);
}

function sensitivityTable({ points }: Results, detector: StudyDetector): string {
  const rates = [...OTHER_HOT.filter((hot) => hot < HOT), HOT, ...OTHER_HOT.filter((hot) => hot > HOT)];
  const rows = THRESHOLDS_US.map((threshold) => [
    String(threshold),
    ...WORKLOAD_NAMES.flatMap((workload) =>
      rates.map((hot) => {
        const point = points.find(
          (each) =>
            each.detector === detector &&
            each.workload === workload &&
            each.thresholdUs === threshold &&
            each.hot === hot,
        );
        return times(point?.gain ?? null);
      }),
    ),
  ]);
  return table(['threshold, us', ...WORKLOAD_NAMES.flatMap((name) => rates.map((hot) => `${name} ${hot}`))], rows);
}

function exactTable({ queues, points }: Results): string {
  const deviation = (events: number, packets: number, expected: number): number => events / (expected * packets) - 1;
  const percent = (value: number): string => `${value < 0 ? '-' : '+'}${Math.abs(100 * value).toFixed(1)} %`;
  const rows = queues.map(({ workload, hot, meanQueueUs, expectedMeanQueueUs }) => {
    const own = points.filter(
      (point) =>
        point.detector === 'perFlow' && point.workload === workload && point.hot === hot && point.gain !== null,
    );
    const deviations = own.flatMap(({ events, packets, expectedFraction, thresholdUs }) =>
      expectedFraction === null ? [] : [{ thresholdUs, events, off: deviation(events, packets, expectedFraction) }],
    );
    const many = deviations.filter(({ events }) => events >= 10_000);
    const worst = Math.max(...(many.length > 0 ? many : deviations).map(({ off }) => Math.abs(off)));
    const highest = deviations[deviations.length - 1];
    return [
      `${workload}, ${hot}`,
      meanQueueUs.toFixed(3),
      expectedMeanQueueUs.toFixed(3),
      deviations[0] === undefined ? '-' : percent(deviations[0].off),
      Number.isFinite(worst) ? `${(100 * worst).toFixed(1)} %` : '-',
      highest === undefined ? '-' : `${percent(highest.off)} (${highest.thresholdUs} us, ${highest.events} events)`,
    ];
  });
  return table(
    [
      'hot slots at',
      'mean queue, us',
      'exact',
      'survivors at 0 us, off by',
      'at all with 10,000 events, at most',
      'at the highest threshold',
    ],
    rows,
  );
}

/** All tables, with a line on what each is. */
export function renderReport(results: Head & Results): string {
  const { rounds, seed } = results.effort;
  return [
    `${surroundingsLine(results)}; seed ${seed}, medians of ${rounds} rounds.`,
    '### The monitor',
    'Millions of reports a second on one core, decoded and made into messages, by items per hop; and, in nanoseconds a report, how much of the time is decoding.',
    monitorTable(results),
    monitorWords(results),
    '### perFlow and perHop',
    'perHop lets the same reports through as perFlow, one by one; (b) is that of perFlow. How many reports each survivor stands for; reports a second with the filter in the switch (a) and in the collector (b). `-`: fewer than 100 events.',
    capacityTable(results, 'perFlow'),
    '### movingAverage, w = 3',
    capacityTable(results, 'movingAverage'),
    '### What a filter in the collector cannot save',
    'Nanoseconds a report, and how many times faster that is than without a filter.',
    boundWords(results),
    `### Thresholds that give ${WINDOW.from} to ${WINDOW.to} times`,
    `Lowest and highest threshold, in steps of ${results.effort.windowStepUs} us up to ${results.effort.windowMostUs} us, at which one report in ${WINDOW.from} to one in ${WINDOW.to} survives; and the gain at threshold 0.`,
    windowTable(results),
    '### Other arrival rates of hot slots',
    'How many reports each survivor stands for, with hot slots at these multiples of line rate. perFlow and perHop:',
    sensitivityTable(results, 'perFlow'),
    'movingAverage:',
    sensitivityTable(results, 'movingAverage'),
    '### Against the exact figures',
    'Mean queue that a packet finds, in the trace and computed; and how far the number of survivors of perFlow is from what is computed.',
    exactTable(results),
  ].join('\n\n');
}
