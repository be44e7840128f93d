import { library } from '../../../tsup.config.base.js';

export default library({ monitor: 'src/monitor.ts', study: 'src/study.ts' }, { format: ['esm'] });
