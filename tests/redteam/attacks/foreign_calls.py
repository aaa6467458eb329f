"""Make a forbidden call through the 32-bit door, where it has another number."""

import ctypes
import mmap

from evidence import conclude, in_child

# push rbx; mov eax, 310 (unshare); mov ebx, CLONE_NEWUSER; int 0x80; pop rbx; ret
UNSHARE_32 = bytes.fromhex("53 b836010000 bb00000010 cd80 5b c3")
# mov eax, 272 (unshare) + the x32 bit; mov edi, CLONE_NEWUSER; syscall; ret
UNSHARE_X32 = bytes.fromhex("b810010040 bf00000010 0f05 c3")


def run(code):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    result = ctypes.CFUNCTYPE(ctypes.c_int)(place)()
    if result < 0:
        raise OSError(-result, "refused")


conclude(
    {
        "32-bit unshare": lambda: in_child(lambda: run(UNSHARE_32)),
        "x32 unshare": lambda: in_child(lambda: run(UNSHARE_X32)),
    }
)
