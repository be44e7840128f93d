import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where a run keeps what its test files share. */
const RUN_FOLDER = 'INT_RUN_FOLDER';
/** Longer than it takes to make anything that is shared, on a busy machine. */
const PATIENCE_MS = 120_000;

/** Called by vitest once, before the test files; what it returns, after them. */
export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'int-run-'));
  process.env[RUN_FOLDER] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

/**
 * Makes something dear that several test files of a run need: the first that asks makes it, others wait until it is there.
 * It lies in a folder that is removed when the run is over.
 *
 * @param name of the folder, the same in all files
 * @param make fills the folder, and says what the others have to know, as JSON
 * @throws Error if it cannot be made, in all files that ask
 */
export async function shared<T>(name: string, make: (folder: string) => T | Promise<T>): Promise<T> {
  const run = process.env[RUN_FOLDER];
  if (run === undefined) throw new Error(`${RUN_FOLDER} is not set: vitest.config.ts names this file as globalSetup`);
  const folder = join(run, name);
  const result = join(run, `${name}.json`);
  let isMine = true;
  try {
    mkdirSync(folder);
  } catch {
    isMine = false;
  }
  if (isMine) {
    let outcome: { value: T } | { error: string };
    try {
      outcome = { value: await make(folder) };
    } catch (error) {
      outcome = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
    // Whole, or not there.
    writeFileSync(`${result}.new`, JSON.stringify(outcome));
    renameSync(`${result}.new`, result);
  }
  for (const until = performance.now() + PATIENCE_MS; !existsSync(result); await sleep(50)) {
    if (performance.now() > until)
      throw new Error(`waited ${PATIENCE_MS / 1000} s for another test file to make ${name}`);
  }
  const outcome = JSON.parse(readFileSync(result, 'utf8')) as { value: T } | { error: string };
  if ('error' in outcome) throw new Error(`${name} could not be made: ${outcome.error}`);
  return outcome.value;
}
