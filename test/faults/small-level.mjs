/** Loaded before a writer: LevelDB with buffers so small that a short run changes its log, compacts and deletes files. */
import { ClassicLevel } from 'classic-level'

const open = ClassicLevel.prototype._open
ClassicLevel.prototype._open = function (options) {
  return open.call(this, { ...options, writeBufferSize: 64 * 1024, maxFileSize: 1024 * 1024 })
}
