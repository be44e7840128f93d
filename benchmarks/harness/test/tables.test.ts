import { aligned, markdownTable, printTable } from '@int/harness';
import { expect, it, vi } from 'vitest';

it('a table has its first column to the left', () => {
  expect(
    markdownTable(
      ['', 'ns'],
      [
        ['a', 1],
        ['b', '2.0'],
      ],
    ),
  ).toBe('|  | ns |\n|---|---:|\n| a | 1 |\n| b | 2.0 |');
});

it('a table for a terminal has columns of one width, and other lines stay', () => {
  const table = markdownTable(
    ['name', 'ns'],
    [
      ['a', 1000],
      ['longer', '2'],
    ],
  );
  expect(aligned(`a | b\n\n${table}\n\nend`)).toBe(
    ['a | b', '', '| name   |   ns |', '| ------ | ---: |', '| a      | 1000 |', '| longer |    2 |', '', 'end'].join(
      '\n',
    ),
  );
});

it('more columns to the left are names', () => {
  expect(markdownTable(['', 'what', 'ns'], [['a', 'b', 1]], 2).split('\n')[1]).toBe('|---|---|---:|');
});

it('a table is printed with its columns as wide as the widest cell', () => {
  const lines: unknown[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line) => void lines.push(line));
  try {
    printTable('title', ['', 'ns'], [['name', '10.5'], ['b']]);
  } finally {
    log.mockRestore();
  }
  expect(lines).toEqual(['\ntitle', '            ns', '  name    10.5', '  b           ']);
});
