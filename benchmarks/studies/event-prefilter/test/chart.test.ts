import { describe, expect, it } from 'vitest';
import { elementsOf } from '../../../../.ci/test/xml.js';
import { type Chart, drawChart, short } from '../src/chart.js';

const CHART: Chart = {
  title: 'A < B & "C"',
  description: 'One line, <one> gap.',
  xLabel: 'x',
  yLabel: 'y',
  categories: ['a', 'b', 'c', 'd', 'e'],
  legend: 'left',
  series: [
    { label: 'first', look: 0, dashed: false, values: [1e3, 1e4, 1e5, null, 1e7] },
    { label: 'second', look: 3, dashed: true, values: [1e3, null, null, null, null] },
  ],
};

describe('a chart', () => {
  const svg = drawChart(CHART);

  it('is well-formed, and has a title and a description', () => {
    const names = elementsOf(svg);
    expect(names[0]).toBe('svg');
    expect(names.slice(1, 4)).toEqual(['title', 'desc', 'style']);
    expect(svg).toContain('<title id="title">A &lt; B &amp; &quot;C&quot;</title>');
    expect(svg).toContain('aria-labelledby="title description"');
    expect(svg).toContain('@media (prefers-color-scheme: dark)');
  });

  it('puts equal ratios at equal distances, and leaves gaps', () => {
    const lines = [...svg.matchAll(/<polyline class="line s0" points="([^"]+)"/g)].map(([, points]) =>
      points!.split(' ').map((point) => point.split(',').map(Number) as [number, number]),
    );
    // The value behind the gap has a mark and no line.
    expect(lines).toHaveLength(1);
    const [[a, b, c]] = lines as [[[number, number], [number, number], [number, number]]];
    expect(b[0] - a[0]).toBeCloseTo(c[0] - b[0], 0);
    expect(a[1] - b[1]).toBeCloseTo(b[1] - c[1], 0);
    expect(b[1]).toBeLessThan(a[1]);
    // Four values and one in the legend.
    expect(svg.match(/<circle class="m0"/g)).toHaveLength(5);
  });

  it('has decades as ticks, or 1, 2 and 5 where there are few', () => {
    expect(svg).toContain('>10 k<');
    expect(svg).not.toContain('>20 k<');
    const few = drawChart({ ...CHART, series: [{ look: 1, label: '', dashed: false, values: [1.2, 3, 4, 5, 6] }] });
    for (const tick of ['1', '2', '5', '10']) expect(few).toContain(`text-anchor="end">${tick}<`);
  });

  it('is refused if there is nothing to draw', () => {
    expect(() => drawChart({ ...CHART, series: [] })).toThrow(RangeError);
  });
});

it('numbers have three digits and a prefix', () => {
  expect([1, 12.34, 999.6, 1000, 4_710_000, 2.5e9, 1e13].map(short)).toEqual([
    '1',
    '12.3',
    '1 k',
    '1 k',
    '4.71 M',
    '2.5 G',
    '10 T',
  ]);
});

it('the check of XML finds what is wrong', () => {
  for (const bad of ['<a>', '<a></b>', '<a b="1" b="2"/>', '<a/><b/>', '<a>&</a>', '<a b=1/>', '<a/>x', '<a b="&"/>']) {
    expect(() => elementsOf(bad), bad).toThrow();
  }
});
