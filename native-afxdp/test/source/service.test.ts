import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { limit, requires } from '../../../.ci/test/requires.js';
import { readUnit } from '../../../.ci/test/unit-file.js';
import { pairFor } from '../pair.js';
import { Command, type Outcome } from './command.js';

const dropIn = (name: string): string =>
  fileURLToPath(new URL(`../../../packaging/int-collect.service.d/${name}`, import.meta.url));
const RULES = 'version: 1\nrules:\n  - { name: all, priority: 1, match: any, detect: { noop: {} } }\n';

/** `int collect` with just the capabilities that drop-ins of packaging/ give the service. */
async function collect(source: string, ...dropIns: readonly string[]): Promise<Outcome> {
  const pair = await pairFor();
  if (process.getuid?.() !== 0) limit('only root has rights to take away');
  const unit = readUnit(...dropIns.map(dropIn));
  const given = (unit.get('CapabilityBoundingSet') ?? []).join(' ').split(' ');
  expect((unit.get('AmbientCapabilities') ?? []).join(' ').split(' ')).toEqual(given);
  const only = ['-all', ...given.map((name) => `+${name.slice('CAP_'.length).toLowerCase()}`)].join(',');

  const folder = mkdtempSync(join(tmpdir(), 'int-service-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'rules.yaml'), RULES);
  const config = join(folder, 'int.yaml');
  writeFileSync(config, `version: 1\nsources:\n  - afxdp: ${source}\ndetect: { rules: rules.yaml }\n`);
  const through = [
    requires('setpriv', 'npm run setup:system'),
    '--no-new-privs',
    ...['--bounding-set', only, '--inh-caps', only],
  ];
  const command = new Command(pair.right, ['collect', '--config', config, '--json'], { through });
  await command.saying(/^int: (receiving|listening)/m);
  return await command.interrupt();
}

describe('the drop-ins of the service', () => {
  it('give AF_XDP what it needs', async () => {
    const { code, stderr } = await collect('{ interface: right0 }', 'afxdp.conf');
    expect(stderr).toMatch(/^int: receiving from afxdp right0:0, driver mode, port 32766\n$/);
    expect(code).toBe(0);
  });

  it('give the pre-filter what it needs only with the second', async () => {
    const source = '{ interface: right0, prefilter: true }';
    const { stderr } = await collect(source, 'afxdp.conf', 'afxdp-prefilter.conf');
    expect(stderr).toMatch(/^int: receiving from afxdp right0:0, driver mode, pre-filter, port 32766\n/);
    expect((await collect(source, 'afxdp.conf')).stderr).toMatch(
      /CAP_PERFMON.*missing.* Receiving by UDP on port 32766/,
    );
  });
});
