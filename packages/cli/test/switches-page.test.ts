import { readFileSync } from 'node:fs';
import { PROFILES } from '@int/codec/internals';
import { DeviceProfile, type UnitsSpec } from '@int/network';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { run } from './run.js';

const page = readFileSync(new URL('../SWITCHES.md', import.meta.url), 'utf8');

/** The rows of the table below a heading, as cells. */
function rows(heading: string): string[][] {
  const [, section = ''] = page.split(`## ${heading}\n`);
  const lines = section.split('\n## ')[0]!.split('\n');
  return lines
    .filter((line) => /^\| (?!-)/.test(line))
    .slice(1)
    .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));
}

test('the page about switches has a row for each profile, and no other', () => {
  const named = rows('Tools that deviate').map(([, profile]) => /`(?:--profile )?([\w-]+)`/.exec(profile!)?.[1]);
  expect(named.sort()).toEqual([...PROFILES].sort());
});

test('the options of the page are options of int decode, and options of decoding are on the page', async () => {
  const { stdout } = await run(['decode', '--help']);
  const known = new Set(stdout.match(/--[a-z][a-z-]+/g));
  const used = new Set(page.match(/(?<=`)--[a-z][a-z-]+/g));
  for (const option of used) expect(known).toContain(option);
  for (const option of [
    '--int-port',
    '--int-dscp',
    '--gre-protocol',
    '--probe-marker',
    '--report-port',
    '--probe-port',
  ]) {
    expect(used).toContain(option);
  }
});

test('the units of the page can be read', () => {
  const units = rows('What the numbers are in').flatMap(([, cell]) => cell!.match(/(?<=`)\w+: [^`]+/g) ?? []);
  expect(units.length).toBeGreaterThan(6);
  for (const text of units.filter((one) => !one.startsWith('switches'))) {
    // In YAML a lone % needs quotes.
    const spec = (text.endsWith(': %') ? { egressUtilization: '%' } : parse(text)) as UnitsSpec;
    expect(() => new DeviceProfile({ units: spec })).not.toThrow();
  }
});
