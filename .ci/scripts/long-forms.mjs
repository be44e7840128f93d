// @ts-check
// Runs a measurement of the benchmarks workspace: `node .ci/scripts/long-forms.mjs FORM [arguments]`, where FORM is `bench`,
// `bench:short`, `study` or `soak`. Says so plainly when there is no such form yet.
import { spawnSync } from 'node:child_process';
import { repository, workspaces } from './workspaces.mjs';

const [form = '', ...rest] = process.argv.slice(2);
const scripts = workspaces().find(({ folder }) => folder === 'benchmarks')?.manifest.scripts ?? {};
const forms = Object.keys(scripts).filter((name) => /^(bench|study|soak)(:|$)/.test(name));

/** @returns {[string, string[]] | undefined} the script to run and its arguments */
function choose() {
  const [name, ...others] = rest;
  if (name !== undefined && scripts[`${form}:${name}`] !== undefined) return [`${form}:${name}`, others];
  if (scripts[form] !== undefined) return [form, rest];
  if (form === 'bench:short' && scripts.bench !== undefined) return ['bench', ['--short', ...rest]];
  return undefined;
}

const chosen = choose();
if (chosen === undefined) {
  const there = forms.filter((name) => name === form || name.startsWith(`${form}:`));
  const list = (there.length > 0 ? there : forms).map(
    (name) => `  npm run ${name} -w @int/benchmarks  (${scripts[name]})`,
  );
  console.log(
    there.length > 0
      ? `Say which ${form}: npm run ${form} -- ${there.map((name) => name.slice(form.length + 1)).join(' | ')}`
      : `There is no ${form} yet: benchmarks/package.json has no script of that name.`,
  );
  if (list.length > 0) console.log(`What there is:\n${list.join('\n')}`);
} else {
  const [name, args] = chosen;
  const { status } = spawnSync('npm', ['run', '--workspace', '@int/benchmarks', name, '--', ...args], {
    cwd: repository,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
}
