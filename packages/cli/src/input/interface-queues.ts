import { InvalidArgumentError } from 'commander';

/** A network interface and a choice of its receive queues. */
export interface InterfaceQueues {
  readonly interface: string;
  readonly queues: 'all' | readonly number[];
}

/** Limit of queue numbers, exclusive. */
const MOST_QUEUES = 4096;

/** An option parser for `IFACE[:QUEUE]`; QUEUE is a number, a range, a comma-separated list of these, or `all`. */
export function interfaceQueues(text: string): InterfaceQueues {
  const match = /^([^:/\s]{1,15})(?::(.+))?$/.exec(text);
  if (match === null) throw new InvalidArgumentError('Give the name of a network interface, as `ip link` lists them.');
  const [, name = '', which = 'all'] = match;
  if (which === 'all') return { interface: name, queues: 'all' };
  const queues = new Set<number>();
  for (const part of which.split(',')) {
    const [, first, last = first] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(part) ?? [];
    if (first === undefined || Number(first) > Number(last) || Number(last) >= MOST_QUEUES) {
      throw new InvalidArgumentError('Give queues behind the colon as 0, 0-3 or all.');
    }
    for (let queue = Number(first); queue <= Number(last); queue++) queues.add(queue);
  }
  return { interface: name, queues: [...queues].sort((a, b) => a - b) };
}
