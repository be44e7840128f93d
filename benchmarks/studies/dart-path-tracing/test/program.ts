import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { inTime } from '../../../../.ci/test/until.js';

const TRACE: string = fileURLToPath(new URL('../dist/trace.js', import.meta.url));

/** What the program prints at its end, as far as tests look at it. */
export interface Total {
  readonly type: 'total';
  readonly flows: number;
  readonly load: number;
  readonly asked: number;
  readonly success: number;
  readonly empty: number;
  readonly wrong: number;
  readonly theory: { readonly success: number; readonly wrong: number };
  readonly oldest: { readonly success: number; readonly theory: number; readonly asked: number };
  readonly slots: number;
  readonly sent: number;
  readonly received: number;
  readonly lostInKernel: number;
  readonly kernelDrops: number | null;
  readonly accepted: number;
  readonly rejected: number;
  readonly closes: boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs the program; with `interruptAt` it gets SIGINT when it has printed that. */
export async function run(args: readonly string[], interruptAt?: RegExp): Promise<Ended> {
  const child = spawn(process.execPath, [TRACE, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  let isInterrupted = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    if (isInterrupted || !interruptAt?.test(out)) return;
    isInterrupted = true;
    child.kill('SIGINT');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const [code] = (await inTime('the end of the program', once(child, 'close'), {
    withinMs: 50_000,
    found: () => out + err,
    inVain: () => child.kill('SIGKILL'),
  })) as [number | null];
  return { code, out, err };
}

/** The last line. */
export function totalOf({ out, err }: Ended): Total {
  const line = out.trim().split('\n').at(-1);
  if (line === undefined || !line.startsWith('{')) throw new Error(`there is no total: ${out}${err}`);
  return JSON.parse(line) as Total;
}
