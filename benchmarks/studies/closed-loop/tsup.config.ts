import { library } from '../../../tsup.config.base.js';

export default library({ study: 'src/study.ts' }, { format: ['esm'] });
