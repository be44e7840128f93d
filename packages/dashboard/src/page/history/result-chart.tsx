import { useEffect, useRef, useState } from 'preact/hooks';
import type { QueryAnswer } from '../../client/index.js';
import { countText } from '../format/text.js';
import { Empty } from '../parts/panel.js';
import { Plot } from '../parts/plot.js';
import { theme } from '../state/theme.js';

const HEIGHT = 220;
const MOST_BARS = 25;
/** Milliseconds of the years 2000 to 2100: numbers between are taken for times. */
const TIMES = [946_684_800_000, 4_102_444_800_000] as const;

const numeric = (value: unknown): number | null => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : null;
};

/** Times in milliseconds, if all values of a column are times: in seconds, milliseconds or nanoseconds. */
function timesOf(values: readonly unknown[]): number[] | null {
  for (const factor of [1, 1000, 1e-6, 1e-3]) {
    const times = values.map((value) => (numeric(value) ?? Number.NaN) * factor);
    if (times.length > 1 && times.every((time) => time > TIMES[0] && time < TIMES[1])) return times;
  }
  return null;
}

/** The result as a chart: over time if a column has times, else a bar per row. */
export function ResultChart({ answer }: { readonly answer: QueryAnswer }) {
  const { columns, rows } = answer;
  const values = columns.map((_, index) => rows.map((row) => row[index]));
  const time = values.findIndex((each) => timesOf(each) !== null);
  const numbers = columns.flatMap((_, index) =>
    index !== time && values[index]!.some((each) => numeric(each) !== null) ? [index] : [],
  );
  const [chosen, setChosen] = useState<string | null>(null);
  const y = numbers.find((index) => columns[index]!.name === chosen) ?? numbers.at(time >= 0 ? 0 : -1);
  if (rows.length === 0 || y === undefined) return <Empty>A chart needs a column of numbers.</Empty>;
  const pick = (
    <label class="row">
      <span class="dim">{time >= 0 ? `over ${columns[time]!.name}:` : 'a bar per row:'}</span>
      <select value={columns[y]!.name} onChange={(event) => setChosen(event.currentTarget.value)}>
        {numbers.map((index) => (
          <option key={columns[index]!.name} value={columns[index]!.name}>
            {columns[index]!.name}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <>
      {pick}
      {time >= 0 ? (
        <Lines times={timesOf(values[time]!)!} values={values[y]!.map(numeric)} name={columns[y]!.name} />
      ) : (
        <Bars answer={answer} y={y} />
      )}
    </>
  );
}

function Lines({
  times,
  values,
  name,
}: {
  readonly times: readonly number[];
  readonly values: readonly (number | null)[];
  readonly name: string;
}) {
  const holder = useRef<HTMLDivElement>(null);
  const shown = theme.value;
  useEffect(() => {
    const plot = new Plot(holder.current!, {
      height: HEIGHT,
      unit: null,
      labels: [name],
      dashed: new Set(),
      top: null,
      isCount: false,
      onZoom: () => {},
      onCursor: () => {},
    });
    const order = times.map((_, index) => index).sort((a, b) => times[a]! - times[b]!);
    const seconds = order.map((index) => times[index]! / 1000);
    plot.show(seconds, [order.map((index) => values[index] ?? null)], null, [seconds[0]!, seconds.at(-1)!]);
    return () => plot.close();
  }, [times, values, name, shown]);
  return <div class="chart" ref={holder} style={{ height: `${HEIGHT}px` }} />;
}

function Bars({ answer: { columns, rows }, y }: { readonly answer: QueryAnswer; readonly y: number }) {
  const shown = rows.slice(0, MOST_BARS);
  const most = Math.max(1, ...shown.map((row) => numeric(row[y]) ?? 0));
  const labels = columns.flatMap((_, index) => (index < y ? [index] : []));
  return (
    <table class="bars">
      <tbody>
        {shown.map((row, index) => {
          const value = numeric(row[y]) ?? 0;
          const label = labels.map((each) => `${columns[each]!.name} ${String(row[each] ?? '–')}`).join(', ');
          return (
            <tr key={`${index} ${label}`}>
              <td class="cut">{label === '' ? `row ${index + 1}` : label}</td>
              <td>
                <span class="meter">
                  <i style={{ width: `${Math.max(0, (100 * value) / most)}%` }} />
                </span>
              </td>
              <td class="num">{countText(value)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
