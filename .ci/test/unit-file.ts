import { readFileSync } from 'node:fs';

/**
 * The values of a unit file of systemd and its drop-ins, by key, in their order; sections are left out, as no key of ours
 * is in two of them. Continued lines are not known.
 *
 * @param paths the unit, then drop-ins in the order in which they apply
 * @throws Error for a line that is neither a section, a comment nor `Key=value`
 */
export function readUnit(...paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const path of paths) {
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      if (line === '' || /^[#;[]/.test(line)) continue;
      const [, key, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
      if (key === undefined || value === undefined) throw new Error(`${path}: ${line}`);
      values.set(key, [...(values.get(key) ?? []), value]);
    }
  }
  return values;
}
