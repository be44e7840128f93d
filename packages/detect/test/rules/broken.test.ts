import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { RulesError } from '@int/detect';
import { readRules } from '@int/detect/yaml';
import { describe, expect, it } from 'vitest';

const folder = fileURLToPath(new URL('./broken/', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

/** What reading a text throws; fails if it throws nothing or anything but a RulesError. */
function refusal(text: string): RulesError {
  try {
    readRules(text);
  } catch (error) {
    if (RulesError.is(error)) return error;
    throw error;
  }
  throw new Error('the rules are accepted');
}

describe('a file with one mistake', () => {
  it('is one of at least 100', () => {
    expect(files.length).toBeGreaterThanOrEqual(100);
  });

  it.each(files)('%s is refused where the mistake is, with what to write instead', (name) => {
    const text = readFileSync(folder + name, 'utf8');
    const [, line, column, code, fragment] = /^# expect: (\d+):(\d+) ([A-Z_]+) (.+)\n/.exec(text) ?? [];
    const { problems } = refusal(text);
    expect(problems.map((problem) => `${problem.line}:${problem.column} ${problem.code} ${problem.message}`)).toEqual([
      expect.stringContaining(`${line}:${column} ${code} `),
    ]);
    expect(problems[0]?.message).toContain(fragment);
  });
});
