/** A part of the benchmark of insertion in a process of its own: `dart-insertion-part.js NAME OPTIONS`, the latter JSON. */
import { PARTS, type PartOptions } from './dart-insertion/parts.js';

const [name, options] = process.argv.slice(2);
const result = await PARTS[name!]!(JSON.parse(options!) as PartOptions);
process.send!({ result });
process.disconnect();
