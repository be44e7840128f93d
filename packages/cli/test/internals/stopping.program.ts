/** A command that cannot end: a thread of the process waits for a pipe for ever. Says when it is so. */
import { open } from 'node:fs';
import { Stopping } from '../../src/stopping.js';

const [pipe = '', limitMs = ''] = process.argv.slice(2);
const stopping = new Stopping((message) => process.stderr.write(`${message}\n`));
stopping.within(Number(limitMs));
open(pipe, () => {});
stopping.signal.addEventListener('abort', () => process.stderr.write(`asked by ${stopping.signal.reason}\n`));
process.stderr.write('waiting\n');
