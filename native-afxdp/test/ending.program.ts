/** Opens a socket and comes to its end, in the way that the first argument says; nothing else keeps it alive. */
import { XdpBatch, XdpSocket } from '@int/afxdp';

const [how, name] = [process.argv[2], process.argv[3]!];
const socket = await XdpSocket.open({ interface: name, frames: 64, txFrames: 8 });
switch (how) {
  case 'closed':
    socket.wait(60_000).then((isReady) => console.log(`waited: ${isReady}`));
    setTimeout(() => socket.close(), 50);
    break;
  case 'waited':
    console.log(`waited: ${await socket.wait(100)}`);
    socket.close();
    break;
  case 'forgotten':
    console.log(`received: ${socket.receive(new XdpBatch(8))}`);
    break;
  case 'exiting':
    socket.wait(60_000);
    setTimeout(() => process.exit(0), 50);
    break;
  case 'throwing':
    socket.wait(60_000);
    setTimeout(() => {
      throw new Error('on purpose');
    }, 50);
    break;
}
