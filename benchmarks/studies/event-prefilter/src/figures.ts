/** The charts of the study. */
import { type Chart, lineChart } from '@int/harness';
import { HOT, LEAST_EVENTS, type StudyDetector, THRESHOLDS_US, WORKLOAD_NAMES } from './plan.js';
import { collectorRate, type ResultPoint, type Results } from './results.js';

/** Points of one detector and workload at the usual hot rate, by threshold. */
export function pointsOf(results: Results, detector: StudyDetector, workload: string): ResultPoint[] {
  return THRESHOLDS_US.map((threshold) => {
    const point = results.points.find(
      (each) =>
        each.detector === detector && each.workload === workload && each.thresholdUs === threshold && each.hot === HOT,
    );
    if (point === undefined) throw new Error(`no point: ${detector}, ${workload}, ${threshold} us`);
    return point;
  });
}

const PREFIXES = ['', ' k', ' M', ' G', ' T', ' P'] as const;

/** `2.5 M`: a number with a metric prefix and at most three digits. */
export function short(value: number): string {
  const digits = Number(value.toPrecision(3));
  const step = Math.min(PREFIXES.length - 1, Math.max(0, Math.floor(Math.log10(digits) / 3 + 1e-9)));
  return `${Number((digits / 1000 ** step).toPrecision(3))}${PREFIXES[step]!}`;
}

interface Line {
  readonly label: string;
  readonly look: number;
  readonly isDashed?: boolean;
  /** For each category; `null`: a gap in the line. */
  readonly values: readonly (number | null)[];
}

/** Lines over categories, on a logarithmic scale of reports a second. */
function ratesChart(title: string, description: string, xLabel: string, categories: string[], lines: Line[]): Chart {
  return lineChart({
    title,
    description,
    x: { label: xLabel, scale: 'categories', ticks: categories },
    y: { label: 'reports a second', scale: 'log', format: '~s' },
    series: lines.map(({ values, ...line }) => ({
      ...line,
      points: values.map((y, at) => ({ x: categories[at]!, y })),
    })),
  });
}

function capacityChart(results: Results, detector: StudyDetector, name: string): Chart {
  const series = (where: 'inSwitch' | 'inCollector'): Line[] =>
    WORKLOAD_NAMES.map((workload, index) => ({
      label: `${workload}, filter in the ${where === 'inSwitch' ? 'switch' : 'collector'}`,
      look: index,
      isDashed: where === 'inCollector',
      values: [
        collectorRate(results.rates, workload, null, null)!.reportsPerSecond,
        ...pointsOf(results, detector, workload).map((point) => point[where]),
      ],
    }));
  const all = [...series('inSwitch'), ...series('inCollector')];
  const ends = all.map(({ label, values }) => {
    const shown = values.filter((value) => value !== null);
    return `${label}: from ${short(shown[0]!)} without a filter to ${short(shown[shown.length - 1]!)} at ${shown.length === values.length ? THRESHOLDS_US[THRESHOLDS_US.length - 1]! : THRESHOLDS_US[values.lastIndexOf(shown[shown.length - 1]!) - 1]!} us`;
  });
  return ratesChart(
    `Capacity of one core against the threshold: ${name}`,
    `Reports a second, logarithmic, against the threshold in microseconds of queue. ${ends.join('; ')}. Points with fewer than ${LEAST_EVENTS} events are left out.`,
    'threshold, microseconds of queue',
    ['no filter', ...THRESHOLDS_US.map(String)],
    all,
  );
}

function monitorChart(results: Results): Chart {
  const { monitor } = results.rates;
  const items = [...new Set(monitor.map((rate) => rate.items))];
  const hops = [...new Set(monitor.map((rate) => rate.hops))];
  const series = hops.map(
    (count, index): Line => ({
      label: count === 1 ? '1 hop' : `${count} hops`,
      look: index,
      values: items.map(
        (item) => monitor.find((rate) => rate.hops === count && rate.items === item)?.reportsPerSecond ?? null,
      ),
    }),
  );
  const ends = series.map(
    ({ label, values }) => `${label}: ${short(values[0]!)} to ${short(values[values.length - 1]!)}`,
  );
  return ratesChart(
    'Capacity of the monitor: decode and build the message, one core',
    `Reports a second, logarithmic, against the items each hop has, 1 to 8. ${ends.join('; ')}.`,
    'items per hop',
    items.map(String),
    series,
  );
}

/** The charts, by file name. */
export function charts(results: Results): (readonly [string, Chart])[] {
  return [
    ['monitor.svg', monitorChart(results)],
    ['capacity-difference.svg', capacityChart(results, 'perFlow', 'perFlow and perHop')],
    ['capacity-average.svg', capacityChart(results, 'movingAverage', 'movingAverage')],
  ];
}
