import { drawChart, groupedBars, lineChart, stackedBars, strips } from '@int/harness';
import { describe, expect, it } from 'vitest';
import { elementsOf } from '../../../.ci/test/xml.js';

const TITLES = { title: 'A & <B>', description: 'Of "C".' };

/** How many marks of a kind there are, those of the legend aside. */
const marks = (svg: string, kind: string): number => svg.split(`aria-roledescription="${kind}"`).length - 1;

/** Places of the points, in the order in which they are drawn. */
function placesOf(svg: string): (readonly [number, number])[] {
  return [...svg.matchAll(/aria-roledescription="point" transform="translate\(([\d.]+),([\d.]+)\)"/g)].map(
    ([, x, y]) => [Number(x), Number(y)] as const,
  );
}

/** A chart is well-formed, says what it shows, and suits dark surroundings. */
function checkDocument(svg: string): void {
  expect(elementsOf(svg).slice(0, 4)).toEqual(['svg', 'title', 'desc', 'style']);
  expect(svg).toContain('<title>A &amp; &lt;B&gt;</title><desc>Of &quot;C&quot;.</desc>');
  expect(svg).toContain('@media (prefers-color-scheme:dark)');
  expect(svg).not.toContain('NaN');
}

describe('a chart of lines', () => {
  const series = ['one & two', '<three>'].map((label, look) => ({
    label,
    look,
    points: [20, 40].map((x) => ({ x, y: x / 10, halfWidth: 0.5 })),
  }));
  const x = { label: 'x', scale: 'linear' } as const;

  it.each(['linear', 'log'] as const)('has its marks and intervals on a %s scale', async (scale) => {
    const svg = await drawChart(
      lineChart({ ...TITLES, x, y: { label: 'y', scale, ...(scale === 'log' && { domain: [1, 10] }) }, series }),
    );
    checkDocument(svg);
    expect(marks(svg, 'point')).toBe(4);
    expect(marks(svg, 'line mark')).toBe(2);
    expect(marks(svg, 'rule mark')).toBe(4);
  });

  it('puts equal ratios at equal distances, and leaves gaps', async () => {
    const values = [1e3, 1e4, 1e5, null, 1e7];
    const points = values.map((y, at) => ({ x: 'abcde'[at]!, y }));
    const one = { label: 'first', look: 0, points };
    const svg = await drawChart(
      lineChart({ ...TITLES, x: { label: '', scale: 'categories' }, y: { label: 'y', scale: 'log' }, series: [one] }),
    );
    checkDocument(svg);
    // The value behind the gap has a mark and no line.
    expect(marks(svg, 'point')).toBe(4);
    const [a, b, c, e] = placesOf(svg) as [number, number][];
    expect(b![0] - a![0]).toBeCloseTo(c![0] - b![0], 3);
    expect(e![0] - c![0]).toBeCloseTo(2 * (b![0] - a![0]), 3);
    expect(a![1] - b![1]).toBeCloseTo(b![1] - c![1], 3);
    expect(c![1] - e![1]).toBeCloseTo(2 * (a![1] - b![1]), 3);
    const line = /aria-roledescription="line mark" d="([^"]+)"/.exec(svg)![1]!;
    expect(line.match(/[ML]/g)).toHaveLength(4);
    expect(line.match(/M/g)).toHaveLength(2);
  });

  it('is the same text again', async () => {
    const chart = lineChart({ ...TITLES, x, y: { label: 'y', scale: 'linear' }, series });
    const svg = await drawChart(chart);
    expect(svg).toContain('url(#clip0)');
    expect(await drawChart(chart)).toBe(svg);
  });

  it('has a part for each facet, and dashes in the legend', async () => {
    const faceted = series.map((each, at) => ({
      ...each,
      isDashed: at === 1,
      points: each.points.flatMap((point) => ['f1', 'f2'].map((facet) => ({ ...point, facet }))),
    }));
    const svg = await drawChart(
      lineChart({ ...TITLES, x, y: { label: 'y', scale: 'linear' }, series: faceted, facets: ['f1', 'f2'] }),
    );
    checkDocument(svg);
    expect(marks(svg, 'line mark')).toBe(4);
    expect(svg).toContain('stroke-dasharray="6,4"');
  });
});

it('a chart of bars has one for each value, and says how much', async () => {
  const svg = await drawChart(
    groupedBars({
      ...TITLES,
      unit: 'ns',
      series: ['a', 'b'],
      groups: [
        { name: 'first', values: [12.34, 1234] },
        { name: 'second', values: [null, 5] },
      ],
    }),
  );
  checkDocument(svg);
  expect(marks(svg, 'bar')).toBe(3);
  for (const text of ['12', '1,234', '5.0']) expect(svg).toContain(`>${text}</text>`);
});

it('a chart of stacked bars has the sums above', async () => {
  const parts = [
    { name: 'one', value: 3 },
    { name: 'two', value: 4 },
  ];
  const svg = await drawChart(stackedBars({ ...TITLES, unit: 'us', bars: [{ name: 'bar', parts }] }));
  checkDocument(svg);
  expect(marks(svg, 'bar')).toBe(2);
  expect(svg).toContain('>7</text>');
});

it('a chart of strips has a mark for each value and each median, within its domain', async () => {
  const svg = await drawChart(
    strips({
      ...TITLES,
      domain: [1, 100],
      ticks: [{ value: 10, text: 'ten' }],
      rows: [
        { name: 'some', values: [0.1, 5, 1000], median: 5 },
        { name: 'none', values: [], median: null },
      ],
    }),
  );
  checkDocument(svg);
  expect(marks(svg, 'circle')).toBe(3);
  expect(marks(svg, 'tick')).toBe(1);
  expect(svg).toContain('>ten</text>');
  expect(svg).toContain('>none</text>');
});

it('the check of XML finds what is wrong', () => {
  for (const bad of ['<a>', '<a></b>', '<a b="1" b="2"/>', '<a/><b/>', '<a>&</a>', '<a b=1/>', '<a/>x', '<a b="&"/>']) {
    expect(() => elementsOf(bad), bad).toThrow();
  }
});
