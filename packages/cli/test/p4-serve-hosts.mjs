// @ts-check
/** What the hosts do behind switches: `echo`, `ask`, `ask-by-many`, `serve`, `fetch`. */
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const [what = '', host = '', port = '', argument = ''] = process.argv.slice(2);
const digest = (/** @type {Uint8Array} */ bytes) => createHash('sha256').update(bytes).digest('hex');

switch (what) {
  case 'echo': {
    const socket = createSocket('udp4');
    socket.on('message', (bytes, { address, port: from }) => socket.send(bytes, from, address));
    socket.bind(Number(port), host, () => console.log('ready'));
    break;
  }
  case 'ask': {
    // Each question until its answer has come: what is lost on the way would be asked for again, and is counted.
    const socket = createSocket('udp4');
    const count = Number(argument);
    let answered = 0;
    let asked = 0;
    /** @type {(() => void) | null} */
    let wake = null;
    socket.on('message', (bytes) => {
      if (bytes.readUInt32BE(0) === answered && bytes.length === 4 + (answered % 1200)) answered++;
      wake?.();
    });
    while (answered < count) {
      const question = Buffer.alloc(4 + (answered % 1200), answered & 255);
      question.writeUInt32BE(answered);
      const before = answered;
      asked++;
      socket.send(question, Number(port), host);
      await Promise.race([
        new Promise((resolve) => {
          wake = () => resolve(undefined);
        }),
        sleep(5000, undefined, { ref: false }),
      ]);
      if (answered === before) break;
    }
    console.log(`${answered} of ${asked}`);
    socket.close();
    break;
  }
  case 'ask-by-many': {
    // A question by each of many sockets, until all have their answer.
    let waiting = Number(argument);
    for (let left = waiting; left > 0; left--) {
      const socket = createSocket('udp4');
      const send = () => socket.send(Buffer.alloc(60, left), Number(port), host);
      const again = setInterval(send, 5000);
      socket.once('message', () => {
        clearInterval(again);
        socket.close();
        if (--waiting === 0) console.log('all');
      });
      send();
    }
    break;
  }
  case 'serve': {
    const bytes = readFileSync(argument);
    createServer((_, response) => response.end(bytes)).listen(Number(port), host, () => {
      console.log('ready');
      console.log(digest(bytes));
    });
    break;
  }
  case 'fetch':
    get(`http://${host}:${port}/`, (response) => {
      /** @type {Buffer[]} */
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => console.log(digest(Buffer.concat(chunks))));
    });
    break;
  default:
    throw new TypeError(`nothing is called ${what}`);
}
