import { readdir, readFile, readlink } from 'node:fs/promises';

/** Columns of a line of /proc/net/udp and /proc/net/udp6 (Linux, Documentation/networking/proc_net_tcp.rst). */
const LOCAL_ADDRESS = 1;
const INODE = 9;
const DROPS = 12;

/** A socket as /proc/net/udp lists it. */
export interface UdpSocketEntry {
  readonly port: number;
  readonly inode: string;
  /** Datagrams the kernel discarded because the socket's receive buffer was full, since the socket was made. */
  readonly drops: number;
}

/** Reads the text of /proc/net/udp or /proc/net/udp6. Invalid lines are left out. */
export function parseProcNetUdp(text: string): UdpSocketEntry[] {
  const entries: UdpSocketEntry[] = [];
  for (const line of text.split('\n').slice(1)) {
    const fields = line.trim().split(/\s+/);
    const port = Number.parseInt(fields[LOCAL_ADDRESS]?.split(':')[1] ?? '', 16);
    const inode = fields[INODE];
    const drops = Number(fields[DROPS]);
    if (Number.isInteger(port) && inode !== undefined && Number.isInteger(drops)) entries.push({ port, inode, drops });
  }
  return entries;
}

/** The inodes of all sockets that this process holds open. */
async function ownSocketInodes(): Promise<Set<string>> {
  const inodes = new Set<string>();
  for (const descriptor of await readdir('/proc/self/fd')) {
    // A descriptor may be gone meanwhile; that of this listing always is.
    const target = await readlink(`/proc/self/fd/${descriptor}`).catch(() => '');
    const match = /^socket:\[(\d+)\]$/.exec(target);
    if (match !== null) inodes.add(match[1]!);
  }
  return inodes;
}

/**
 * Follows the kernel's drop counter of one UDP socket of this process. It finds the socket by port and inode, because
 * another process may share the port (SO_REUSEPORT).
 *
 * @param family which of the two tables
 * @param port the local port the socket is bound to
 * @returns reads the counter; `null` where the system has no such table, or the socket is not in it
 */
export function kernelDrops(family: 'udp4' | 'udp6', port: number): () => Promise<number | null> {
  const file = family === 'udp4' ? '/proc/net/udp' : '/proc/net/udp6';
  let inodes: Set<string> | null = null;
  return async () => {
    try {
      inodes ??= await ownSocketInodes();
      const own = inodes;
      const entries = parseProcNetUdp(await readFile(file, 'latin1'));
      return entries.find((entry) => entry.port === port && own.has(entry.inode))?.drops ?? null;
    } catch {
      // No such table: not Linux, or /proc is not mounted.
      return null;
    }
  };
}
