import { readFileSync } from 'node:fs';

/** Whether a process with this id runs now. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * A number that tells a process from others with its id, earlier and later: when it began, in ticks since the machine
 * did.
 * @returns null if there is no such process, or the system has no such number
 */
export function startOf(pid: number | 'self'): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program, in parentheses, may contain anything.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
