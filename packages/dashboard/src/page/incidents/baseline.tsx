import type { IncidentRow } from '../../client/index.js';
import type { SeriesMetric } from '../../protocol/entities.js';
import { measureText } from '../format/text.js';
import { Chart } from '../parts/chart.js';
import { Empty } from '../parts/panel.js';
import { unitOfMetric } from '../state/network.js';
import { OperandList } from './arithmetic.js';
import { incidentEntity } from './entity.js';

/** Series that show what a metric of the telemetry does. */
const SERIES: Readonly<Record<string, readonly SeriesMetric[]>> = {
  hopLatency: ['latencyP50', 'latencyP99'],
  queueOccupancy: ['occupancy'],
  egressUtilization: ['utilization'],
};
const LABELS: Readonly<Partial<Record<SeriesMetric, string>>> = {
  latencyP50: 'latency, p50',
  latencyP99: 'latency, p99',
  occupancy: 'queue occupancy',
  utilization: 'utilisation',
};
/** Deviations within which a value is usual: beyond half a deviation the sum of the detector grows. */
const QUIET = 0.5;

/** What is usual, with the band in which values are quiet, and the series itself. */
export function Baseline({ row }: { readonly row: IncidentRow }) {
  const { baseline, operands, entity } = row;
  const { series, switchId } = incidentEntity(entity);
  const metric = typeof operands.metric === 'string' ? operands.metric : null;
  const metrics = metric === null ? [] : (SERIES[metric] ?? []);
  const band = bandOf(row);
  const unit = unitOfMetric(metric, switchId);
  if (baseline === null && metrics.length === 0) {
    return <Empty>This detector compares with a fixed threshold: it needs no baseline.</Empty>;
  }
  return (
    <>
      {baseline !== null && <OperandList operands={baseline} />}
      {band !== null && (
        <p>
          Usual is <b>{measureText(band.usual, unit)}</b>, quiet from {measureText(band.low, unit)} to{' '}
          {measureText(band.high, unit)}; measured was <b>{measureText(band.value, unit)}</b>.
        </p>
      )}
      {series !== null && metrics.length > 0 && (
        <Chart
          label={`${metric} of what the incident is about`}
          height={130}
          lines={metrics.map((each) => ({ metric: each, entity: series, label: LABELS[each] ?? each }))}
        />
      )}
    </>
  );
}

interface UsualBand {
  readonly usual: number;
  readonly low: number;
  readonly high: number;
  readonly value: number;
}

/**
 * The band of a detector that measures deviations in spreads of the logarithm, z = (ln(1 + value) - ln(1 + usual)) / spread: its
 * operands tell the spread. `null`: it is another detector.
 */
function bandOf({ operands }: Pick<IncidentRow, 'operands'>): UsualBand | null {
  const { value, usual, z } = operands;
  if (typeof value !== 'number' || typeof usual !== 'number' || typeof z !== 'number' || z === 0) return null;
  const spread = (Math.log1p(value) - Math.log1p(usual)) / z;
  if (!Number.isFinite(spread) || spread <= 0) return null;
  const at = (deviations: number): number => Math.max(0, Math.expm1(Math.log1p(usual) + deviations * spread));
  return { usual, low: at(-QUIET), high: at(QUIET), value };
}
