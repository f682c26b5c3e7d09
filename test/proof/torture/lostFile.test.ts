// The file is taken from under the running engine: it must not go on as if nothing had happened.
import { deletedFile, movedFile, replacedFile } from './scenarios/lostFile.ts'
import { slice } from './slice.ts'

slice('1: the file is deleted: a typed error, not acknowledgements that go nowhere', deletedFile)
slice('1: the file is moved away: a typed error, not acknowledgements that go nowhere', movedFile)
slice('1: the file is replaced: a typed error, not acknowledgements that go nowhere', replacedFile)
