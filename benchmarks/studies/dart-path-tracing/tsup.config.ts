import { library } from '../../../tsup.config.base.js';

export default library({ trace: 'src/trace.ts', sender: 'src/sender.ts', study: 'src/study.ts' }, { format: ['esm'] });
