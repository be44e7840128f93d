/** What a killed run has left behind: namespaces that nobody runs any more, found by their owner's mark. */
import { readFileSync, readlinkSync } from 'node:fs';
import { ask, command } from './ip-command.js';

/** Begins the mark, which is the alias of a namespace's `lo` and of the cables into it. */
const PREFIX = 'int-p4-fabric';

/** When a process started, in ticks since the system did: with its number, it names a process for good. */
function startOf(pid: number | 'self'): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program, in parentheses, may hold anything.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** Numbers of processes mean something only within their namespace, such as a container. */
function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');
  } catch {
    return '0';
  }
}

/** The mark of this process for a namespace. */
export function ownerMark(namespace: string): string {
  return [PREFIX, process.pid, startOf('self') ?? '0', processNamespace(), namespace].join(':');
}

/** The namespace that a mark names, if the process that made it has gone. */
function abandoned(mark: string): string | undefined {
  const [prefix, pid, start, processes, ...name] = mark.split(':');
  if (prefix !== PREFIX || !/^[1-9]\d*$/.test(pid ?? '') || !/^[1-9]\d*$/.test(start ?? '')) return undefined;
  if (processes !== processNamespace() || startOf(Number(pid)) === start) return undefined;
  return name.join(':');
}

/** The aliases of interfaces, as `ip -json link` lists them; none if it cannot. */
async function aliases(...args: readonly string[]): Promise<readonly string[]> {
  try {
    const links: unknown = JSON.parse(await ask('ip', ...args));
    if (!Array.isArray(links)) return [];
    return links.flatMap((link: { readonly ifalias?: unknown }) =>
      typeof link?.ifalias === 'string' ? [link.ifalias] : [],
    );
  } catch {
    return [];
  }
}

/**
 * Removes the namespaces of runs that were killed, their cables with them. One is removed only if its own mark names it, and the
 * process in the mark, of this container, has gone.
 *
 * @param wanted namespaces that are about to be made: they are looked at though no cable leads there
 * @returns the names of what was removed
 */
export async function removeLeftovers(wanted: readonly string[]): Promise<readonly string[]> {
  const cables = await aliases('-json', 'link', 'show', 'type', 'veth');
  const candidates = new Set([...wanted, ...cables.flatMap((mark) => abandoned(mark) ?? [])]);
  const removed: string[] = [];
  for (const namespace of candidates) {
    const [mark] = await aliases('-netns', namespace, '-json', 'link', 'show', 'dev', 'lo');
    if (mark === undefined || abandoned(mark) !== namespace) continue;
    try {
      await command('ip', 'netns', 'delete', namespace);
      removed.push(namespace);
    } catch {
      // Another run has removed it at the same moment.
    }
  }
  return removed;
}
