/** The charts of the study. */
import { type Chart, drawChart, type Series, short } from './chart.js';
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

function capacityChart(results: Results, detector: StudyDetector, name: string): Chart {
  const series = (where: 'inSwitch' | 'inCollector'): Series[] =>
    WORKLOAD_NAMES.map((workload, index) => ({
      label: `${workload}, filter in the ${where === 'inSwitch' ? 'switch' : 'collector'}`,
      look: index as 0 | 1 | 2,
      dashed: where === 'inCollector',
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
  return {
    title: `Capacity of one core against the threshold: ${name}`,
    description: `Reports a second, logarithmic, against the threshold in microseconds of queue. ${ends.join('; ')}. Points with fewer than ${LEAST_EVENTS} events are left out.`,
    xLabel: 'threshold, microseconds of queue',
    yLabel: 'reports a second',
    categories: ['no filter', ...THRESHOLDS_US.map(String)],
    legend: 'left',
    series: all,
  };
}

function monitorChart(results: Results): Chart {
  const { monitor } = results.rates;
  const items = [...new Set(monitor.map((rate) => rate.items))];
  const hops = [...new Set(monitor.map((rate) => rate.hops))];
  const series = hops.map(
    (count, index): Series => ({
      label: count === 1 ? '1 hop' : `${count} hops`,
      look: index as 0 | 1 | 2 | 3,
      dashed: false,
      values: items.map(
        (item) => monitor.find((rate) => rate.hops === count && rate.items === item)?.reportsPerSecond ?? null,
      ),
    }),
  );
  const ends = series.map(
    ({ label, values }) => `${label}: ${short(values[0]!)} to ${short(values[values.length - 1]!)}`,
  );
  return {
    title: 'Capacity of the monitor: decode and build the message, one core',
    description: `Reports a second, logarithmic, against the items each hop has, 1 to 8. ${ends.join('; ')}.`,
    xLabel: 'items per hop',
    yLabel: 'reports a second',
    categories: items.map(String),
    legend: 'right',
    series,
  };
}

/** File name and SVG text of each chart. */
export function drawFigures(results: Results): ReadonlyMap<string, string> {
  return new Map([
    ['monitor.svg', drawChart(monitorChart(results))],
    ['capacity-difference.svg', drawChart(capacityChart(results, 'perFlow', 'perFlow and perHop'))],
    ['capacity-average.svg', drawChart(capacityChart(results, 'movingAverage', 'movingAverage'))],
  ]);
}
