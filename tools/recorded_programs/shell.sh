# What agents do in a shell: files, text, archives, processes. Errors do not matter.
folder=$(mktemp -d) && cd "$folder" || exit 1
seq 100 > numbers; printf 'b\na\n' | sort -u | tee sorted; shuf numbers | head -3; tail -n 2 numbers
cp -a numbers copy; cp --reflink=auto numbers other; mv copy moved; ln moved hard; ln -s moved soft; readlink -f soft
mkdir -p one/two; touch one/two/file; rmdir one/none; rm -rf one; install -m 600 numbers installed; mkfifo pipe; mknod pipe2 p
chmod 600 numbers; chown "$(id -u)" numbers; chgrp "$(id -g)" numbers; truncate -s 10 other; dd if=/dev/zero of=zeros bs=1k count=4 conv=fsync
stat numbers; ls -laR /usr/bin . > listing; du -sh .; df -h .; sync; sync -f numbers; split -l 10 numbers part; cat part*
wc numbers; cut -c1 numbers | uniq -c; tr a b < sorted; paste numbers sorted; join sorted sorted; comm sorted sorted; nl sorted; od sorted
fold -w 3 listing > /dev/null; fmt listing > /dev/null; expand listing > /dev/null; tac numbers | rev; base64 numbers; md5sum numbers
sha256sum numbers; cksum numbers; b2sum numbers; date; uptime; uname -a; nproc; id; whoami; who; groups; hostname; tty; env; printenv HOME
pwd; basename a/b; dirname a/b; realpath .; test -e numbers; expr 1 + 1; factor 12; echo hello; yes | head -1; true; false; sleep 0.1
timeout 1 sleep 0.1; nice -n 5 true; nohup true; stdbuf -oL true; mktemp; tsort sorted; csplit numbers 5; numfmt 10; pathchk a; logname; arch
grep -rn 5 .; grep -P '\d' numbers; sed -i 's/1/2/' numbers; awk '{s += $1} END {print s; system("true")}' numbers; find / -maxdepth 2 -name b -exec echo {} +
find . -type f -print0 | xargs -0 -P 2 -n 1 cat > /dev/null; diff numbers moved; cmp numbers moved; diff -r . .
tar czf all.tgz numbers moved; tar xzf all.tgz; gzip -k numbers; gunzip -c numbers.gz; zcat numbers.gz; tar cf - numbers | tar tf -
flock lock true; setsid true; prlimit --nofile; setpriv --no-new-privs true; taskset -p $$; ionice true; chrt -p $$; free; ps aux; kill -0 $$
cat <<< here; cat < <(echo process); exec 5<>numbers; exec 5>&-; ulimit -a; umask 022; times; wait; trap true INT
(tail -f numbers & sleep 0.3; kill $!); coproc cat; kill %1 2> /dev/null; select x in a; do break; done < /dev/null; [[ -w numbers ]]; jobs; hash
sleep 5 & disown; kill $!; echo > /dev/tcp/127.0.0.1/9; history; set -m; sleep 0.1 & fg; less numbers; cd / && rm -rf "$folder"
