import { library } from '../../../tsup.config.base.js';

export default library(
  { monitor: 'src/monitor.ts', writer: 'src/writer.ts', accuracy: 'src/accuracy.ts', sender: 'src/sender.ts' },
  { format: ['esm'] },
);
